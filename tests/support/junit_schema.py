"""Whether a file is of JUnit's schema: junit-10.xsd, of the xunit plugin of Jenkins.

The library to do so is no dependency, and this schema needs little of it: which
elements and attributes there are, which have to be there, and the form of a time."""

import re
from pathlib import Path
from xml.etree import ElementTree

XS = "{http://www.w3.org/2001/XMLSchema}"
SCHEMA = ElementTree.parse(Path(__file__).with_name("junit-10.xsd")).getroot()
ELEMENTS = {each.get("name"): each for each in SCHEMA.findall(f"{XS}element")}
FORM = SCHEMA.find(f".//{XS}pattern").get("value")


def problems_of(content):
    """What is not of the schema in the bytes of a file: a list of sentences."""
    top = ElementTree.fromstring(content)
    return [problem for node in top.iter() for problem in _of_node(node)]


def _of_node(node):
    element = ELEMENTS.get(node.tag)
    if element is None:
        return [f"there is no element {node.tag}"]
    attributes = {each.get("name"): each for each in element.iter(f"{XS}attribute")}
    inside = {each.get("ref") for each in element.iter(f"{XS}element")} - {None}
    needed = {name for name in attributes if attributes[name].get("use") == "required"}
    problems = [f"{node.tag} has no {name}" for name in needed - {*node.attrib}]
    unknown = {*node.attrib} - {*attributes}
    problems += [f"{node.tag} has an attribute {name}" for name in unknown]
    problems += [f"{each.tag} in {node.tag}" for each in node if each.tag not in inside]
    is_mixed = element.get("type") == "xs:string" or any(
        each.get("mixed") for each in element.iter(f"{XS}complexType")
    )
    if not is_mixed and (node.text or "").strip():
        problems.append(f"{node.tag} has a text")
    timed = attributes.get("time")
    is_timed = timed is not None and timed.get("type") == "SUREFIRE_TIME"
    if is_timed and not re.fullmatch(FORM, node.get("time", "")):
        problems.append(f"{node.tag} has the time {node.get('time')}")
    return problems
