"""Lists of words: WordNet's, which ships, and lexicons of ratings, which users bring."""
