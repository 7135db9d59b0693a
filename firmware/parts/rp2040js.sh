# shellcheck shell=bash
# rp2040js 1.4.1 (MIT), the RP2040's processor and peripherals; npm checks it against the lock file.
cp ../../../sim/rp2040js/package.json ../../../sim/rp2040js/package-lock.json .
npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
test -e node_modules/rp2040js/dist/esm/index.js
