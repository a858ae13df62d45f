"""Templates are code: what they read is given to them, and nothing in them is idle."""

import ast
import functools

import pytest
from jinja2 import StrictUndefined, meta, nodes
from jinja2.filters import FILTERS as DEFAULT_FILTERS

from evaluate_retrieval.reading import places
from evaluate_retrieval.words.templates import templates

TEMPLATES = templates()

PACKAGE = places.ROOT / "evaluate_retrieval"
NAMES = sorted(path.name for path in PACKAGE.rglob("*.j2"))


@functools.cache
def modules():
    """The syntax tree of each module, by its path."""
    return {path: ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}


@functools.cache
def calls():
    """The calls of all modules: pairs of the tree of a module, and the call."""
    return [
        (tree, node)
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    ]


@functools.cache
def tree_of(template):
    """The syntax tree of a template."""
    source, _, _ = TEMPLATES.loader.get_source(TEMPLATES, template)
    return TEMPLATES.parse(source, template)


def names_of(template, context):
    """The names that a template reads (load), or sets (store)."""
    names = tree_of(template).find_all(nodes.Name)
    return {name.name for name in names if name.ctx == context}


def values_read(template):
    """The values that a template needs, also for those that it includes or imports."""
    tree = tree_of(template)
    needed = meta.find_undeclared_variables(tree)
    needed = needed.union(*map(values_read, meta.find_referenced_templates(tree)))
    return needed - names_of(template, "store") - TEMPLATES.globals.keys()


def calls_with(template):
    """Those of `calls` that name a template."""
    for tree, call in calls():
        if any(
            isinstance(value, ast.Constant) and value.value == template
            for value in call.args
        ):
            yield tree, call


def keywords_of(call):
    """The names that a call gives."""
    return {keyword.arg for keyword in call.keywords if keyword.arg}


def texts_as_names(tree):
    """The names that a module may give in a dict: keys, and `values["name"] = …`."""
    for node in ast.walk(tree):
        keys = node.keys if isinstance(node, ast.Dict) else []
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            keys = [node.slice]
        yield from (key.value for key in keys if isinstance(key, ast.Constant))


def values_given(template):
    """The values that the modules which show a template give it.

    By the call that names it. If that hands on a dict, also by the dicts of its module.
    If that is a function of the module which renders any template, also by its call."""
    given = set()
    for tree, call in calls_with(template):
        given |= keywords_of(call)
        if any(keyword.arg is None for keyword in call.keywords):
            given.update(texts_as_names(tree))
        for function in tree.body:
            is_called = getattr(function, "name", "") == ast.unparse(call.func)
            for node in ast.walk(function) if is_called else ():
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "render":
                    given |= keywords_of(node)
    return given


PARTS = {
    part for name in NAMES for part in meta.find_referenced_templates(tree_of(name))
}
SHOWN = [name for name in NAMES if name not in PARTS]  # by a module, and not a template


def test_no_template_is_idle():
    assert len(NAMES) > 10
    assert [name for name in SHOWN if not [*calls_with(name)]] == []


@pytest.mark.parametrize("template", SHOWN)
def test_a_template_is_given_what_it_reads_and_nothing_else(template):
    assert values_read(template) - values_given(template) == set()
    for _, call in calls_with(template):
        assert keywords_of(call) - values_read(template) == set()


def test_a_name_that_nobody_gives_is_an_error():
    assert TEMPLATES.undefined is StrictUndefined


def test_no_macro_argument_or_value_that_is_set_is_idle():
    """A macro is used by its own template, or by one that imports it."""
    read = set().union(*(names_of(name, "load") for name in NAMES))
    for name in NAMES:
        read |= {node.attr for node in tree_of(name).find_all(nodes.Getattr)}
    for name in NAMES:
        for macro in tree_of(name).find_all(nodes.Macro):
            loaded = {n.name for n in macro.find_all(nodes.Name) if n.ctx == "load"}
            assert {argument.name for argument in macro.args} - loaded == set(), macro
            assert macro.name in read
        parts = map(values_read, meta.find_referenced_templates(tree_of(name)))
        idle = names_of(name, "store") - names_of(name, "load").union(*parts)
        assert idle - {"_"} == set(), name


def test_filters_are_used():
    """By themselves, or as the name that `map` takes."""
    used = set()
    for name in NAMES:
        used |= {node.name for node in tree_of(name).find_all(nodes.Filter)}
        used |= {str(node.value) for node in tree_of(name).find_all(nodes.Const)}
    assert TEMPLATES.filters.keys() - DEFAULT_FILTERS.keys() - used == set()


def test_what_templates_may_use_is_in_one_module():
    """Else a template's meaning would depend on which modules were loaded before."""
    imported = {
        path: {
            f"{getattr(node, 'module', '')}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        for path, tree in modules().items()
    }
    ours = imported.pop(PACKAGE / "words" / "templates.py")
    for path, names in imported.items():
        assert "evaluate_retrieval.words.templates.templates" not in names, path
        assert not [name for name in names if "jinja2" in name], path
    ours = {
        name
        for name in ours
        if {"course", "utils", "evaluate_retrieval"} & set(name.split("."))
    }
    assert [name for name in ours if ".words.text." not in name] == []
