"""What sections of a page are made of: prose, tables, figures, and the results that they see."""
