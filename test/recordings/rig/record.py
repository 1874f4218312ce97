"""Records agents: `record.py NAME [SCENARIO…]` runs one instrumentation of catalog.json against the scripted model and writes its recordings.

NAME is a name of the catalog or `all`; without SCENARIO all scenarios of the entry are recorded. `--print` prints the spans instead of writing.
Environments are made in $TRACEJURY_RIG_ENVIRONMENTS (default ~/.cache/tracejury-recordings), one per requirements file, with uv.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = pathlib.Path(os.environ.get("RIG_DATA") or HERE.parent / "data")
ENVIRONMENTS = pathlib.Path(os.environ.get("TRACEJURY_RIG_ENVIRONMENTS") or pathlib.Path.home() / ".cache/tracejury-recordings")
CATALOG = json.loads((HERE / "catalog.json").read_text())
PYTHON = "3.11"


def environment(name):
    """The Python of a requirements file's environment; it is made when it is missing or the file has changed."""
    wanted = HERE / "requirements" / f"{name}.txt"
    home, made_from = ENVIRONMENTS / name, ENVIRONMENTS / name / ".made-from"
    if not made_from.exists() or made_from.read_text() != wanted.read_text():
        shutil.rmtree(home, ignore_errors=True)
        if name == "rig":
            subprocess.run([sys.executable, "-m", "venv", home], check=True)
            subprocess.run([home / "bin/python", "-m", "pip", "install", "--quiet", "-r", wanted], check=True)
        else:
            uv = str(ENVIRONMENTS / "rig/bin/uv")
            subprocess.run([uv, "venv", "--quiet", "--python", PYTHON, home], check=True)
            subprocess.run([uv, "pip", "install", "--quiet", "--python", home / "bin/python", "-r", wanted], check=True)
        made_from.write_text(wanted.read_text())
    return home / "bin/python"


def run_agent(name, entry, scenario):
    """(truth, bodies, exchanges with the model, versions)."""
    from model_server import ModelServer
    from receiver import Receiver

    python = environment(entry.get("requirements", name))
    model, receiver = ModelServer(), Receiver()
    with tempfile.TemporaryDirectory(prefix="rig-") as folder:
        truth = pathlib.Path(folder) / "truth.json"
        variables = {key: os.environ[key] for key in ("PATH", "LANG", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE") if key in os.environ}
        variables |= {
            "HOME": folder, "RIG_MODEL_URL": model.address, "RIG_SCENARIO": scenario, "RIG_INSTRUMENTATION": entry["instrumentation"], "RIG_TRUTH": str(truth),
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.address, "PYTHONPYCACHEPREFIX": str(ENVIRONMENTS / "pycache"), "PYTHONPATH": str(HERE / "agents"), "PYTHONUTF8": "1",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", **entry.get("variables", {})}
        done = subprocess.run([python, HERE / "agents" / f"{entry['agent']}.py"], env=variables, cwd=folder, timeout=180, capture_output=True, text=True)
        if done.returncode != 0 or not truth.exists():
            raise SystemExit(f"{name}/{scenario}: the agent ended with {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
        told = json.loads(truth.read_text(encoding="utf-8"))
    model.close()
    receiver.close()
    if model.unexpected or model.leftover:
        raise SystemExit(f"{name}/{scenario}: unexpected requests {model.unexpected}, answers that nobody asked for {model.leftover}\n{done.stderr[-3000:]}")
    if not receiver.bodies:
        raise SystemExit(f"{name}/{scenario}: no body arrived\n{done.stderr[-3000:]}")
    shown = subprocess.run([python, "-c", "import importlib.metadata as m, json; print(json.dumps({d.metadata['Name'].lower().replace('_', '-'): d.version for d in m.distributions()}))"],
                           capture_output=True, text=True, check=True)
    return told, receiver.bodies, model.exchanges, json.loads(shown.stdout)


def elsewhere(value, places):
    """What a traceback or a message tells of this machine is replaced as it is in the bodies."""
    text = json.dumps(value, ensure_ascii=False)
    for place, neutral in places.items():
        text = text.replace(place, neutral)
    return json.loads(text)


def main(arguments):
    if not sys.prefix.startswith(str(ENVIRONMENTS)):
        python = environment("rig")
        os.execv(python, [str(python), __file__, *arguments])
    from expected import expected_of
    from wire import Wire

    is_printed = "--print" in arguments
    name, *scenarios = [argument for argument in arguments if argument != "--print"] or [""]
    names = list(CATALOG) if name == "all" else [name]
    if not set(names) <= set(CATALOG):
        raise SystemExit(f"record.py: no {name} in the catalog; there are {', '.join(CATALOG)}")
    for one in names:
        entry = CATALOG[one]
        for scenario in scenarios or entry["scenarios"]:
            told, bodies, exchanges, versions = run_agent(one, entry, scenario)
            places = {str(ENVIRONMENTS / entry.get("requirements", one)): "/venv", str(HERE): "/rig", str(pathlib.Path.home()): "/home/rig"}
            wire = Wire(bodies, secrets=places)
            told, exchanges = elsewhere((told, exchanges), places)
            expected = expected_of(entry, scenario, told, wire, exchanges, versions)
            if is_printed:
                print(wire.text())
                print(json.dumps({**expected, "files": len(expected["files"])}, indent=1, ensure_ascii=False))
                continue
            folder = DATA / one / scenario
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            for file, payload in wire.files():
                (folder / file["file"]).write_bytes(payload)
            (folder / "expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            print(f"{one}/{scenario}: {expected['decoded']} not carried: {', '.join(expected['not_carried']) or 'nothing'}; partly: {', '.join(expected['partly_carried']) or 'nothing'}")


if __name__ == "__main__":
    main(sys.argv[1:])
