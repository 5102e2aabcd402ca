"""A JupyterLab server on loopback that keeps everything it writes in one folder and asks nothing of the network."""

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import quote

import nbformat
from nbformat.sign import NotebookNotary

REPOSITORY = Path(__file__).resolve().parents[2]
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
START_SECONDS = 60


class JupyterServer:
    """JupyterLab serving copies of notebooks from a folder of its own.

    It does not know the reader's settings, signatures or notebooks, so a notebook that it opens is an unknown one:
    saved outputs are shown untrusted unless the copy is asked to be trusted.
    """

    def __init__(self, folder: Path) -> None:
        self.notebooks = folder / "notebooks"
        self.settings = folder / "settings"
        self.runtime = folder / "runtime"
        self.data = folder / "data"
        self.log = folder / "server.log"
        for directory in (self.notebooks, self.settings, self.runtime, self.data):
            directory.mkdir(parents=True, exist_ok=True)
        self.environment = os.environ | {
            "JUPYTER_CONFIG_DIR": str(folder / "config"),
            "JUPYTER_DATA_DIR": str(self.data),
            "JUPYTER_RUNTIME_DIR": str(self.runtime),
            "JUPYTERLAB_SETTINGS_DIR": str(self.settings),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            "IPYTHONDIR": str(folder / "ipython"),
            "PYTHONPATH": os.pathsep.join(filter(None, [str(REPOSITORY), os.environ.get("PYTHONPATH")])),
        }
        self._set("@jupyterlab/apputils-extension/notification",
                  {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True})
        # Every cell stays in the page, so that cells outside the window can be read and photographed.
        self._set("@jupyterlab/notebook-extension/tracker",
                  {"windowingMode": "none", "scrollPastEnd": False, "autoStartDefaultKernel": True, "kernelShutdown": True})
        self.use_theme("light")

    def start(self) -> None:
        self.run([
            sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
            "--ServerApp.ip=127.0.0.1", "--ServerApp.port=18888", "--ServerApp.port_retries=100",
            "--IdentityProvider.token=", f"--ServerApp.root_dir={self.notebooks}",
            "--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly", "--LabApp.news_url=None",
        ], self.notebooks)  # fmt: skip

    def run(self, command: list[str], folder: Path) -> None:
        """Start the server with a command of one's own, and wait until it answers."""
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command, cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"JupyterLab did not start within {START_SECONDS} s:\n{self.log.read_text()}")
            time.sleep(0.1)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def use_theme(self, theme: str) -> None:
        """Show pages opened from now on in the "light" or "dark" theme."""
        self._set("@jupyterlab/apputils-extension/themes", {"theme": THEMES[theme], "adaptive-theme": False})

    def add(self, notebook: Path, *, trusted: bool = False) -> str:
        """Copy a notebook into the server's folder, signed by this server if it is to be trusted, and return the address of its page."""
        copy = self.notebooks / notebook.name
        shutil.copyfile(notebook, copy)
        notary = NotebookNotary(data_dir=str(self.data))
        content = nbformat.read(copy, as_version=4)
        if trusted:
            notary.sign(content)
        else:
            notary.unsign(content)
        notary.store.close()
        return f"{self.address}lab/tree/{quote(copy.name)}?reset"

    def _set(self, plugin: str, values: dict[str, object]) -> None:
        file = self.settings / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))

    def _answers(self) -> bool:
        """Whether the server has written where it listens and answers there."""
        for file in self.runtime.glob("jpserver-*.json"):
            try:
                running = json.loads(file.read_text())
                self.address: str = running["url"]
                self.token: str = running["token"]
                with urllib.request.urlopen(f"{self.address}api/status?token={self.token}", timeout=5):
                    return True
            except (OSError, ValueError):
                return False
        return False
