"""The stand-in's kernel with the real ipykernel: starts one and passes Jupyter's messages on as JSON lines.

Same descriptors and messages as kernel.py. Needs `jupyter_client` and `ipykernel`.
"""

import json
import os
import signal
import sys
import tempfile
import threading

from jupyter_client.manager import KernelManager


def main():
    lock = threading.Lock()

    def send(kind, **content):
        line = json.dumps({"msg": kind, **content}, default=str) + "\n"
        with lock:
            data = line.encode()
            while data:
                data = data[os.write(4, data):]

    os.set_inheritable(3, False)
    os.set_inheritable(4, False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = tempfile.mkdtemp(prefix="stand-in-")
    manager = KernelManager(kernel_name="python3", connection_file=os.path.join(folder, os.path.basename(sys.argv[2])))
    manager.start_kernel(extra_arguments=["--InteractiveShell.colors=nocolor", "--HistoryManager.enabled=False"])
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=30)

    def pump():
        while True:
            message = client.iopub_channel.get_msg()
            parent = message["parent_header"].get("msg_id")
            content = {key: value for key, value in message["content"].items() if key != "msg"}
            send(message["msg_type"], parent=parent, **content)

    threading.Thread(target=pump, daemon=True).start()

    def watch():
        while manager.is_alive():
            threading.Event().wait(0.1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    send("hello", pid=manager.provisioner.pid, version=sys.version.split()[0])
    with os.fdopen(os.dup(3), "r", encoding="utf-8") as lines:
        for line in lines:
            request = json.loads(line)
            message = client.session.msg("execute_request", {
                "code": request["code"], "silent": False, "store_history": True, "user_expressions": {},
                "stop_on_error": True, "allow_stdin": False,
            })
            message["header"]["msg_id"] = message["msg_id"] = request["id"]
            client.shell_channel.send(message)
    manager.shutdown_kernel(now=True)
    os._exit(0)


main()
