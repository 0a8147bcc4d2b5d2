"""Text from files and strangers."""

import pytest

from clinometer.errors import InputError
from clinometer.texts import visible, write_bytes, write_text


def test_a_file_is_written_whole_with_its_folders(tmp_path):
    path = tmp_path / "a" / "b" / "c.txt"
    write_text(path, "é \ud800")
    assert path.read_bytes() == "é ?".encode()
    assert [one.name for one in path.parent.iterdir()] == ["c.txt"]


def test_what_cannot_be_written_leaves_what_is_there(tmp_path):
    old = tmp_path / "old"
    old.mkdir()
    with pytest.raises(InputError, match="old: Is a directory"):
        write_bytes(old, b"new")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="Not a directory|File exists"):
        write_text(tmp_path / "file" / "inside", "new")
    assert {one.name for one in tmp_path.iterdir()} == {"old", "file"}


@pytest.mark.parametrize("code", [0x1B, 0x7F, 0x9B, 0x202E, 0x2028, 0xFFFE, 0x1FFFF, 0xFDD0])
def test_nothing_a_terminal_acts_on_stays(code):
    shown = visible(f"a{chr(code)}b")
    assert chr(code) not in shown
    assert shown.startswith("a") and shown.endswith("b") and len(shown) > 2


def test_invisible_characters_become_visible():
    assert visible("a\u202eb\x1b\x85c") == "a⟨U+202E⟩b␛⟨U+0085⟩c"
    assert visible("👩\u200d🔬\n\tمرحبا") == "👩\u200d🔬\n\tمرحبا"


def test_a_tokenizer_is_no_token() -> None:
    from clinometer.secrets import is_secret

    assert not is_secret("tokenizer_path") and not is_secret("tokenizer")
    assert is_secret("hf_token") and is_secret("token") and is_secret("TokenizerToken")
