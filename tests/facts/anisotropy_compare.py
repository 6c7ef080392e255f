#!/usr/bin/env python3
"""How many answers of two runs of anisotropy.c differ, question by question, and by how much at most:

    anisotropy_compare.py answers_of_a_card.bin answers_of_lockstep.bin
"""
import struct
import sys


def read(path):
    data, at, questions = open(path, "rb").read(), 0, {}
    while at < len(data):
        name, n = data[at:at + 32].split(b"\0")[0].decode(), struct.unpack_from("<i", data, at + 32)[0]
        at += 36
        questions[name] = [struct.unpack_from("<8I4f", data, at + 48 * i) for i in range(n)]
        at += 48 * n
    return questions


def main():
    card, other = read(sys.argv[1]), read(sys.argv[2])
    differ = of = 0
    for name, rows in card.items():
        if [r[:8] for r in rows] != [r[:8] for r in other.get(name, [])]:
            sys.exit(f"{name}: not asked with the same numbers")
        bad = [(x[8:], y[8:]) for x, y in zip(rows, other[name]) if x[8:] != y[8:]]
        most = max((abs(p - q) for x, y in bad for p, q in zip(x, y)), default=0)
        differ, of = differ + len(bad), of + len(rows)
        print(f"{name:18} {len(bad):5} of {len(rows):5} differ, at most by {most:.6g}")
    print(f"{differ} of {of} differ")


main()
