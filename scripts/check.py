"""Say what this machine has for the course, and what to do about what it lacks.

It runs before anything is installed, also on an old Python."""

import os
import shutil
import sys

disk = shutil.disk_usage(".").free / 1e9
memory = 8
if hasattr(os, "sysconf"):
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
node = shutil.which("docker") or shutil.which("java")
for what, is_there, advice in (
    ("Python " + sys.version.split()[0], sys.version_info >= (3, 11), "3.11 is needed"),
    (f"{disk:.0f} GB of disk", disk > 8, "torch takes 6, and LIGHT=1 leaves it out"),
    (f"{memory:.0f} GB of memory", memory > 4, "a run with a node takes 4"),
    ("Elasticsearch", node, "optional: it needs Docker, or Java 17+"),
):
    print(f"ok  {what}" if is_there else f"no  {what}: {advice}")
