"""Libraries that call home, and how each of them is told not to."""

import os

# read when a library is imported. onnxruntime keeps an id of the device and looks its
# maker's host up; the hub's library counts who uses it
SWITCHES = {"ORT_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


def keep_silent() -> None:
    """Switch off what they send, before they are imported.

    What the environment says already stays."""
    for name, value in SWITCHES.items():
        os.environ.setdefault(name, value)
