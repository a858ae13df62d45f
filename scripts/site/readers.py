"""Try how one server stands forty readers: readers.py FOLDER.

The folder is one of `browser.py --offline`. Chromium opens the first lesson with empty
caches, until its first output. Then plain readers fetch the same files, all at once.
All on this machine, and bounded in time."""

import argparse
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from statistics import median
from urllib.request import urlopen

from playwright.sync_api import Error, sync_playwright

LESSON = "lab/index.html?path=notebooks/01-ground-truth.ipynb"
WIDGET = "window.jupyterapp.shell.currentWidget"
READY = f"window.jupyterapp && {WIDGET} && {WIDGET}.content.model"
START = """window.jupyterapp.commands.execute("notebook:run-all-cells"); 0"""
OUTPUT = f"""{WIDGET}.content.model.toJSON().cells.some((cell) =>
  cell.outputs && cell.outputs.some((output) => output.text || output.data))"""
WAIT = 600  # seconds for one reader


class Counting(SimpleHTTPRequestHandler):
    """Count bytes and errors, and keep the paths that were asked for."""

    sent, errors, paths = 0, [], {}

    def log_message(self, *_):
        """Say nothing of a request."""

    def log_request(self, code="-", size="-"):
        if str(code) >= "500":
            self.errors.append(self.path)

    def copyfile(self, source, outputfile):
        content = source.read()
        Counting.sent += len(content)
        self.paths[self.path] = len(content)
        outputfile.write(content)


class Server(ThreadingHTTPServer):
    request_queue_size = 128  # forty browsers begin at once

    def handle_error(self, request, address):
        Counting.errors.append(address)


def read_in_chromium(url, program):
    """Seconds until a new Chromium shows the first output of a lesson, or None."""
    with sync_playwright() as playwright:
        options = {"executable_path": program, "args": ["--no-sandbox"]}
        page = playwright.chromium.launch(**options).new_page()
        page.set_default_timeout(WAIT * 1000)
        started = time.perf_counter()
        try:
            page.goto(url)
            page.wait_for_function(READY)
            page.evaluate(f"{WIDGET}.sessionContext.ready")
            page.evaluate(START)
            page.wait_for_function(OUTPUT, polling=500)
        except Error as error:
            print(error.message.splitlines()[0])
            return None
        return time.perf_counter() - started


def read_plainly(urls):
    """Seconds to fetch all files, one after the other, or None."""
    started = time.perf_counter()
    try:
        for url in urls:
            with urlopen(url, timeout=WAIT) as reply:
                reply.read()
    except OSError as error:
        print(error)
        return None
    return time.perf_counter() - started


def report(what, seconds, sent):
    """Print one line: how many came through, how long they took, what was served."""
    done = sorted(filter(None, seconds))
    took = f"median {median(done):.0f} s, slowest {done[-1]:.0f} s" if done else "none"
    print(f"{what}: {len(done)} of {len(seconds)} came through; {took}; ", end="")
    print(f"{sent / 1e6:,.0f} MB served, {len(Counting.errors)} errors", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--readers", type=int, default=40)
    parser.add_argument("--browsers", type=int, default=40)
    parser.add_argument("--parallel", type=int, default=8, help="Chromiums at a time")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    arguments = parser.parse_args()
    server = Server(("127.0.0.1", 0), partial(Counting, directory=arguments.folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}"
    with ThreadPoolExecutor(arguments.parallel) as pool:
        url = f"{root}/{LESSON}"
        one = partial(read_in_chromium, program=arguments.chromium)
        seconds = list(pool.map(one, [url] * arguments.browsers))
    report(f"Chromium, {arguments.parallel} at a time", seconds, Counting.sent)
    urls = [root + path for path in Counting.paths]
    Counting.sent = 0
    with ThreadPoolExecutor(arguments.readers) as pool:
        seconds = list(pool.map(read_plainly, [urls] * arguments.readers))
    report(f"plain readers, {len(urls)} files, all at once", seconds, Counting.sent)
    server.shutdown()


if __name__ == "__main__":
    main()
