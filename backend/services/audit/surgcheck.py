"""SurgCheck's printed claims, checked against its own tables and, where the store holds it, the public release."""

__all__ = ["CHECKS"]

from backend.services.audit import surgcheck_questions, surgcheck_scores

CHECKS = (*surgcheck_questions.CHECKS, *surgcheck_scores.CHECKS)
