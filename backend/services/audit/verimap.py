"""VeriMap's printed claims, checked against its printed cells and tables."""

__all__ = ["CHECKS"]

from backend.services.audit import verimap_cells, verimap_logistic, verimap_models, verimap_task_slopes

CHECKS = (*verimap_models.CHECKS, *verimap_task_slopes.CHECKS, *verimap_cells.CHECKS, *verimap_logistic.CHECKS)
