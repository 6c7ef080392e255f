"""Runs a command, and sends a signal to it alone or to its group after some seconds: what it says of where it stood."""
import os, re, signal, subprocess, sys, time
number, seconds, whom = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
p = subprocess.Popen(sys.argv[4:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True)
if number:
    time.sleep(seconds)
    (os.killpg if whom == "group" else os.kill)(p.pid, number)
try:
    said = p.communicate(timeout=30)[0]
except subprocess.TimeoutExpired:
    os.killpg(p.pid, signal.SIGKILL)
    said = p.communicate()[0] + "still ran 30 seconds later\n"
for line in said.splitlines():
    if re.search(r"\[interrupted|\[deadlock|\[wait_|= cause|= fix|thread 0:|ended by|= in:|= at:|still", line) and "50 ms" not in line:
        print(re.sub(r"\S*/hang ", "hang ", line))
print("exit", p.returncode)
