"""Runs cells in a fresh ipykernel: reads JSON rows of cells and prints for each the text of its last cell as JSON."""

import json
import os
import queue
import sys
import time

from jupyter_client.manager import start_new_kernel

LIMIT = 20

# Kernels inherit descriptor 1; what their children write there is no answer of ours.
answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def run(manager, client, code, timeout):
    message = client.execute(code, allow_stdin=False)
    text, deadline, interrupted = [], time.monotonic() + (timeout or LIMIT), False
    while True:
        try:
            reply = client.get_iopub_msg(timeout=max(0.1, deadline - time.monotonic()))
        except queue.Empty:
            if interrupted or not manager.is_alive():
                return "".join(text) + "(no answer)"
            manager.interrupt_kernel()
            interrupted, deadline = True, time.monotonic() + 5
            continue
        if reply["parent_header"].get("msg_id") != message:
            continue
        content = reply["content"]
        if reply["msg_type"] == "stream":
            text.append(content["text"])
        elif reply["msg_type"] in ("execute_result", "display_data"):
            text.append(content["data"].get("text/plain", ""))
        elif reply["msg_type"] == "error":
            text.append("\n".join(content["traceback"]))
        elif reply["msg_type"] == "status" and content["execution_state"] == "idle":
            return "".join(text)


def play(row):
    manager, client = start_new_kernel()
    try:
        last = ""
        for index, code in enumerate(row["cells"]):
            middle = row.get("timeout") and 0 < index < len(row["cells"]) - 1
            last = run(manager, client, code, row["timeout"] if middle else None)
        return last
    except Exception as error:
        return f"(failed: {error})"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


for line in sys.stdin:
    print(json.dumps(play(json.loads(line))), file=answers, flush=True)
