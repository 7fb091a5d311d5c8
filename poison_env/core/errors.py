"""Every error the kit raises on purpose; catch `PoisonEnvError` for all of them."""


class PoisonEnvError(Exception):
    """Base of all errors of this package."""


class OptionError(PoisonEnvError, ValueError):
    """An option, or a combination of options, that cannot be played."""


class PositionError(PoisonEnvError, ValueError):
    """A position or an order of cards that the rules cannot reach."""


class IllegalActionError(PoisonEnvError, ValueError):
    """An action that the rules do not allow now; nothing was changed."""


class ActionTypeError(PoisonEnvError, TypeError):
    """An action of the wrong type or shape; nothing was changed."""


class LifeCycleError(PoisonEnvError, RuntimeError):
    """A call at the wrong time: before `reset`, or after the end."""


class UnknownNameError(PoisonEnvError, LookupError):
    """A name that stands for no game, agent or section."""


class RecordError(PoisonEnvError, ValueError):
    """A match record that is damaged, altered or of another kind."""


class CheckpointError(PoisonEnvError, ValueError):
    """A checkpoint that is damaged, or belongs to another game, layout or number of seats."""


class NoWorldsError(PoisonEnvError, RuntimeError):
    """Worlds were asked of decisions that were built from an observation alone."""
