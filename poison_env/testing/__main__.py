"""`python -m poison_env.testing package.module:env`."""

from poison_env.testing.command import main

raise SystemExit(main())
