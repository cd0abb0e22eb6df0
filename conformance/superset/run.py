"""Runs Apache Superset on a Skua server and uses it in a browser. `make superset` calls it; README.md says what is needed.

    python3 run.py --bin BIN --work DIR [--keep]

BIN holds the built skua and skua-catalog. DIR receives two virtual environments, made once, the pictures, and Superset's and Skua's logs.
With --keep both servers stay up until Enter is pressed.
"""

import argparse
import hashlib
import os
import pathlib
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
PLAYWRIGHT = "playwright==1.65.2"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def say(text):
    print("superset: " + text, flush=True)


def environment(folder, key, *commands):
    """Makes a virtual environment of pip's arguments, unless it was made of the same ones before."""
    stamp, want = folder / "made-of", hashlib.sha256(key.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == want:
        return
    shutil.rmtree(folder, ignore_errors=True)
    say(f"installing into {folder}, once")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    for arguments in commands:
        subprocess.run([folder / "bin" / "pip", "install", "-q", *arguments], check=True)
    stamp.write_text(want)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(what, ready, process, log, limit=180):
    """Waits until ready() is true, and no longer than the process lives."""
    end = time.monotonic() + limit
    while not ready():
        if process.poll() is not None or time.monotonic() > end:
            raise SystemExit(f"superset: {what} did not start; the end of {log}:\n" + "\n".join(log.read_text().splitlines()[-20:]))
        time.sleep(0.2)


def answers(url):
    try:
        return urllib.request.urlopen(url, timeout=5).status == 200
    except OSError:
        return False


class Check:
    """The two servers of one run."""

    def __init__(self, binaries, work):
        self.binaries, self.work = binaries, work
        self.home = work / "home"
        self.processes = []
        self.variables = dict(os.environ, SUPERSET_HOME=str(self.home), SUPERSET_CONFIG_PATH=str(HERE / "superset_config.py"), FLASK_APP="superset",
                              SKUA_SUPERSET_SECRET=secrets.token_hex(24))

    def superset(self, *arguments):
        subprocess.run([self.work / "venv" / "bin" / "superset", *arguments], env=self.variables, check=True, stdout=self.log("init"), stderr=subprocess.STDOUT)

    def log(self, name):
        return open(self.work / f"{name}.log", "ab")

    def start(self, name, *command, **more):
        (self.work / f"{name}.log").unlink(missing_ok=True)
        p = subprocess.Popen(command, stdout=self.log(name), stderr=subprocess.STDOUT, **more)
        self.processes.append(p)
        return p

    def stop(self):
        for p in reversed(self.processes):
            p.terminate()
        for p in self.processes:
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                p.kill()

    def skua(self):
        """Starts Skua over the demo warehouse, with a login, and gives its address, user and password."""
        password = secrets.token_urlsafe(12)
        users, address, lake = self.work / "users", self.work / "address", self.work / "lake"
        subprocess.run([self.binaries / "skua", "demo", lake], check=True, stdout=subprocess.DEVNULL)
        users.write_bytes(subprocess.run([self.binaries / "skua", "user", "ana"], input=password.encode() + b"\n", check=True, capture_output=True).stdout)
        address.unlink(missing_ok=True)
        p = self.start("skua", self.binaries / "skua", "serve", "--demo", "--demo-dir", lake, "--listen", "127.0.0.1:0", "--ready-file", address,
                       "--conf", f"skua.auth.users-file={users}")
        wait_for("Skua", lambda: address.exists() and address.read_text().strip(), p, self.work / "skua.log")
        return address.read_text().strip(), "ana", password

    def prepare(self):
        """Makes Superset's own database, once, and of it a fresh copy with an administrator of a random password, which it gives."""
        made = self.work / "superset-6.1.0.db"
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()
        (self.work / "init.log").unlink(missing_ok=True)
        if not made.exists():
            say("making Superset's own database, once")
            self.superset("db", "upgrade")
            self.superset("init")
            shutil.copy(self.home / "superset.db", made)
        shutil.copy(made, self.home / "superset.db")
        password = secrets.token_urlsafe(12)
        self.superset("fab", "create-admin", "--username", "admin", "--firstname", "Ada", "--lastname", "Min", "--email", "admin@example.org", "--password", password)
        return password

    def serve(self):
        port = free_port()
        p = self.start("superset", self.work / "venv" / "bin" / "superset", "run", "-h", "127.0.0.1", "-p", str(port), "--with-threads", env=self.variables)
        base = f"http://127.0.0.1:{port}"
        wait_for("Superset", lambda: answers(base + "/health"), p, self.work / "superset.log")
        return base


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", required=True, type=pathlib.Path)
    p.add_argument("--work", required=True, type=pathlib.Path)
    p.add_argument("--keep", action="store_true")
    a = p.parse_args()
    work, binaries = a.work.resolve(), a.bin.resolve()
    work.mkdir(parents=True, exist_ok=True)
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        raise SystemExit("superset: no browser found: install chromium, or name one in CHROMIUM")
    wanted, bounds = HERE / "requirements.txt", HERE / "constraints.txt"
    environment(work / "venv", wanted.read_text() + bounds.read_text(), ["--upgrade", "pip"], ["--build-constraint", bounds, "-r", wanted])
    environment(work / "browser", PLAYWRIGHT, [PLAYWRIGHT])
    check = Check(binaries, work)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # both servers end with this program
    try:
        address, user, password = check.skua()
        admin = check.prepare()
        base = check.serve()
        say(f"Superset at {base}, Skua at {address}")
        drive = dict(os.environ, BROWSER=browser, BASE=base, ADMIN_PASSWORD=admin, PICTURES=str(work),
                     URI=f"datafusion+flightsql://{user}:{password}@{address}?insecure=True")
        code = subprocess.run([work / "browser" / "bin" / "python", HERE / "drive.py"], env=drive).returncode
        if a.keep:
            input(f"superset: log in at {base} as admin with {admin}; Enter ends both servers ")
    finally:
        check.stop()
    raise SystemExit(code)


if __name__ == "__main__":
    main()
