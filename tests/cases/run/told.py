"""What the files of a run say of its end: told.py FOLDER EXIT. One line; 'yes' is a run that passed."""
import json, os, re, sys
import xml.etree.ElementTree as xml

at, code = sys.argv[1], int(sys.argv[2])
path = lambda name: os.path.join(at, name)
said = json.load(open(path("r.json")))
end = said["ending"]
log = json.load(open(path("r.sarif")))["runs"][0]
call = log["invocations"][0]
suite = xml.parse(path("r.xml")).getroot()
cases = {c.get("name"): c for c in suite.iter("testcase")}
failing = [n for n, c in cases.items() if c.find("failure") is not None]
page = open(path("r.html")).read()
shown = re.search(r'"ending":(\{.*?\})', page)
word = lambda no: "no" if no else "yes"
assert end["exit"] == call["exitCode"] == code == json.loads(shown.group(1))["exit"], (end, call, code)
assert int(suite.get("failures")) == len(failing) and int(suite.get("tests")) == len(list(suite.iter("testcase")))
assert "ending" in cases
print(f"exit {code}, {end['word']}: JSON {word(end['exit'])}, JUnit {word(failing)}, SARIF {word(not call['executionSuccessful'])} with {len(log['results'])} results, page {word(json.loads(shown.group(1))['exit'])}; " + "; ".join(end["why"]))
