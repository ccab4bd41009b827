"""GEAR's measures, tables, figures, simulation studies and curves of trainings."""
