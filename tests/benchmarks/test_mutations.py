"""What the benchmark of mutations draws."""

import ast

from benchmarks.measuring import REPOSITORY
from benchmarks.mutations import TRIED, _change, _changeable, draw, find_tests


def test_each_drawn_change_changes_its_file_and_has_tests():
    mutations = draw()
    assert len({(mutation.path, mutation.node) for mutation in mutations}) == TRIED
    for mutation in mutations:
        text = (REPOSITORY / mutation.path).read_text(encoding="utf-8")
        tree = ast.parse(text)
        before = ast.unparse(tree)
        _change(_changeable(tree)[mutation.node])
        after = ast.unparse(tree)
        assert after != before
        compile(after, mutation.path, "exec")
        assert all((REPOSITORY / place).exists() for place in find_tests(mutation.path))


def test_annotations_and_constants_of_modules_stay():
    tree = ast.parse("A = 1\ndef f(x: int = 2) -> 'a < b':\n    return x + 1\n")
    assert [ast.unparse(node) for node in _changeable(tree)] == ["x + 1", "1"]
