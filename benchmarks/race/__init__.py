"""The race: boxreg's defaults against every other solver that installs. `make bench` runs it."""
