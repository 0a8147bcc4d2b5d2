"""What an instrument declares, how its trials become tables, and the catalogue of instruments."""
