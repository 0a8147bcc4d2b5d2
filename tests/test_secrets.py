"""Secrets are known by value: what is left out of a text, and what must stay."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import grows_linearly

from clinometer import secrets
from clinometer.models.fields import LONGEST, clean_text
from clinometer.secrets import (
    change_texts,
    holds_secret,
    keep_base_address,
    keep_environment,
    keep_secret,
    redacted,
    withhold,
)

KEY = "sk-1f0c/9+ab=7d2e44"


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Begin each test without secrets, and leave none."""
    for name in ("_remark_forms", "_long_forms", "_hosts"):
        monkeypatch.setattr(secrets, name, set())
    yield


@given(before=st.binary(max_size=7), after=st.binary(max_size=7))
def test_a_key_is_found_in_any_text_that_was_encoded_in_base64(before: bytes, after: bytes) -> None:
    keep_secret(KEY)
    text = before + KEY.encode() + after
    for encoded in (base64.b64encode(text), base64.urlsafe_b64encode(text)):
        assert holds_secret(encoded) and not holds_secret(withhold(encoded.decode()))


@pytest.mark.parametrize("key", ["confident", "underrepresented", "Misrepresentation", "ollama",
                                 "no-key-required", "julia-wedding"])  # fmt: skip
def test_a_word_and_a_short_text_stay_in_what_is_measured(key: str) -> None:
    keep_secret(key)
    answer = f"julia - {key}, {base64.b64encode(key.encode()).decode()}"
    assert withhold(answer) == answer and not holds_secret(answer)


@pytest.mark.parametrize("key", [KEY, "qwrtzpsdfghjklmn", "aBcDeFgHiJkLmNoP", "0123456789012345"])
def test_a_long_key_is_left_out_as_it_is_and_as_addresses_and_json_write_it(key: str) -> None:
    keep_secret(key)
    assert withhold(f"it was {key}") == "it was [redacted]"
    assert withhold(f"?k={secrets.quote(key, safe='')}&") == "?k=[redacted]&"
    assert change_texts({key: [key, 1, None]}, withhold) == {"[redacted]": ["[redacted]", 1, None]}


def test_a_remark_has_no_shorter_secret_either() -> None:
    keep_secret("pa@ss-word")
    assert redacted("bad login pa%40ss-word") == "bad login [redacted]"
    assert withhold("bad login pa@ss-word") == "bad login pa@ss-word"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("https://me:pw@host:8/v1?sig=a1&code=b2 failed", "https://host:8/v1 failed"),
     ("see https://example.org/docs#k", "see https://example.org/docs"),
     ("'s3://bucket/run-2026-11-28/a.parquet'", "'s3://bucket/run-2026-11-28/a.parquet'"),
     ("(http://[::1]:80/a?sas=1)", "(http://[::1]:80/a"),
     ("7https://me:pw@host/v1", "7https://host/v1"),
     ("x" * 90 + "://me:pw@host/v1", "x" * 90 + "://host/v1")],
)  # fmt: skip
def test_an_address_is_shown_without_user_and_query(text: str, shown: str) -> None:
    assert redacted(text) == shown


@pytest.mark.parametrize("word", ["x", "a+", "://", "https://a@", "%"])
def test_a_long_word_takes_time_in_proportion(word: str) -> None:
    assert grows_linearly(lambda size: redacted(word * size), 8_000)


def test_of_a_models_address_only_scheme_and_host_are_shown() -> None:
    address = "https://gate.example/t0k3n-in-the-path-4711/gpt-4o-mini-2024-07-18/v1"
    keep_base_address(address, "azureai/gpt-4o-mini-2024-07-18")
    assert redacted(f"404 for {address}/chat.") == "404 for https://gate.example."
    assert withhold("no route t0k3n-in-the-path-4711") == "no route [redacted]"
    assert withhold("served by gpt-4o-mini-2024-07-18") == "served by gpt-4o-mini-2024-07-18"


@pytest.mark.parametrize("variable", ["LOOP_API_KEY", "DB_PASSWORD", "STORE_SAS", "APP_PWD"])
def test_keys_of_the_environment_are_known(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, f"Bearer {KEY}")
    keep_environment()
    assert withhold(f"with {KEY}") == "with [redacted]"
    assert redacted("no such Bearer") == "no such Bearer"


def test_a_folder_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_KEY", os.getcwd())
    monkeypatch.setenv("OLDPWD", "/a/folder/of/mine-12345")
    keep_environment()
    assert withhold(f"{os.getcwd()} /a/folder/of/mine-12345").endswith("mine-12345")
    assert os.getcwd() in withhold(os.getcwd())


@pytest.mark.parametrize(
    "name", ["sig", "code", "pwd", "account_sas", "hf_token", "default_headers"]
)
def test_names_of_arguments_that_carry_credentials(name: str) -> None:
    assert secrets.is_secret(name)
    assert not secrets.is_secret("trust_remote_code") and not secrets.is_secret("tokenizer_path")


def test_a_key_is_left_out_before_a_text_is_cut() -> None:
    keep_secret(KEY)
    for length in range(LONGEST - len(KEY), LONGEST):
        assert KEY[:8] not in clean_text(f"{'-' * length}{KEY}")
