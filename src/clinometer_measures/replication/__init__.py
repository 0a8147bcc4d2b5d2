"""What Bai et al. (2025) ask beside their two tests, and self-reports to set beside these.

The chained task joins association and decision in one prompt, self-moderation has a model judge its
answers, and self-report asks it outright. All are made of word associations and decisions.
"""
