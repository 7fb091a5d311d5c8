"""All faults, and why those that our suite does not see cannot be seen by it."""

from tests.kill_matrix import faults_aec, faults_foreign, faults_learner, faults_rules
from tests.kill_matrix.fault import Fault

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for module in (faults_foreign, faults_aec, faults_learner, faults_rules)
    for fault in module.FAULTS
}
SURVIVORS: dict[str, str] = {}
