"""All faults, and why those that our suite does not see cannot be seen by it."""

from tests.kill_matrix import faults_aec, faults_foreign, faults_learner, faults_rules
from tests.kill_matrix.fault import Fault

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for module in (faults_foreign, faults_aec, faults_learner, faults_rules)
    for fault in module.FAULTS
}
SURVIVORS: dict[str, str] = {
    "table: the learner sees as the seat to move": (
        "it shows in the last observation of an episode alone, and in the single environment likewise; no hook says"
        " what the learner should see."
    ),
    "table: the end is a truncation": (
        "the single environment says so too, and no hook says whether a match is over by the rules or by a limit."
    ),
    "solo: rewards are NumPy's": "Gymnasium allows any number; Stable-Baselines3 alone wants Python's own.",
    "solo: the generator is not seeded": "this environment draws nothing from it once it has a seed.",
}
