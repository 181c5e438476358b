"""Privacy accounting, the budget, and the only source of noise."""

from dpgraph.privacy.accountant import Budget, PrivacyAccountant
from dpgraph.privacy.accounting import gaussian_scale, gdp_delta, gdp_epsilon, gdp_mu
from dpgraph.privacy.budget_file import FileAccountant
from dpgraph.privacy.relation import Constraint, Custom, Edge, LabelEdge, Record, Relation, Shift
from dpgraph.privacy.report import LedgerEntry, PrivacyReport

__all__ = [
    "Budget",
    "Constraint",
    "Custom",
    "Edge",
    "FileAccountant",
    "LabelEdge",
    "LedgerEntry",
    "PrivacyAccountant",
    "PrivacyReport",
    "Record",
    "Relation",
    "Shift",
    "gaussian_scale",
    "gdp_delta",
    "gdp_epsilon",
    "gdp_mu",
]
