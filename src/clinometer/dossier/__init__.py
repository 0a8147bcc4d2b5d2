"""The dossier of an audit: what an auditor files, a summary for the public, and how both begin."""
