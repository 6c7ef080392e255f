"""strangers.py flood|silent|other: takes the name of a ring and answers for ever, or never, or is of another user (where it may become one). Prints its name when it listens."""
import os
import socket
import sys

how = sys.argv[1]
user = os.getuid()
if how == 'other' and user == 0:
    os.setgid(65534)
    os.setuid(65534)
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
s.bind(b'\0lockstep-ring/%d/%d/stranger' % (user, os.getpid()))
s.listen(8)
print('ready', flush=True)
kept = []
while True:
    c, _ = s.accept()
    kept.append(c)
    try:
        while how != 'silent':
            c.sendall(b'ring stranger\n' * 10000)
    except OSError:
        pass
