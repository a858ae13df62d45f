"""Say what this machine has for the course, and what to do about what it lacks.

It runs before anything is installed, also on an old Python."""

import os
import shutil
import sys

GIGABYTE = 1e9
disk, memory = shutil.disk_usage(".").free / GIGABYTE, 8
if hasattr(os, "sysconf"):
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIGABYTE
docker, java, maven = map(shutil.which, ("docker", "java", "mvn"))
node = docker or (java and maven)
for what, is_there, advice in (
    ("Python " + sys.version.split()[0], sys.version_info >= (3, 11), "3.11 is needed"),
    (f"{disk:.0f} GB of disk", disk > 8, "torch takes 6: see docs/settings.md"),
    (f"{memory:.0f} GB of memory", memory > 4, "a run with a node takes 4"),
    (
        "Elasticsearch",
        docker or (java and maven),
        "optional: Docker, or Java 17+ and Maven",
    ),
):
    print(f"ok  {what}" if is_there else f"no  {what}: {advice}")
