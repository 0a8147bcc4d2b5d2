"""Cells without an answer, as exports write them, and answers that look like one."""

import pytest

from clinometer.reading.absence import is_absent


@pytest.mark.parametrize(
    "cell",
    [
        *("", "  ", "NA", "N/A", "nan", "NaN", "None", "NULL", "null", "<NA>", "#NAME?", "#N/A"),
        *("#VALUE!", '"NA"', "-", "\\N", "undefined"),
        "Error code: 429 - rate limit reached",
        "Error code: 500 - {'error': {'message': 'The server had an error'}}",
        "APIError: HTTP 503",
        "HTTP 502 Bad Gateway",
        "503 Service Unavailable",
        "openai.RateLimitError: Rate limit reached for gpt-4o",
        "Traceback (most recent call last):\n  File",
        "requests.exceptions.ReadTimeout: HTTPSConnectionPool",
        "Request timed out.",
        "Connection error.",
        "Rate limit exceeded",
        '{"error": {"message": "overloaded"}}',
        "<html><body>504 Gateway Time-out</body></html>",
        "Too Many Requests",
    ],
)
def test_absent(cell):
    assert is_absent(cell)


@pytest.mark.parametrize(
    "cell",
    [
        "None of them.",
        "none",
        "No",
        "Nan - Julia",
        "weak - karen",
        "I made an error: home - julia",
        "Error of judgement - Ben",
        "Timeout chair - Julia",
        "The connection between home and Julia",
        "Error: your request was blocked by the content filter",
        "404 - Ben",
        "I'm sorry, I can't.",
    ],
)
def test_there(cell):
    assert not is_absent(cell)
