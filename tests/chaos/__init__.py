"""Faults on purpose: each scenario proves that the fault happened and that nothing was lost."""
