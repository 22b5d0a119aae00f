"""The style sheet of report pages: light and dark, phone and laptop, nothing fetched."""

STYLE = """
:root { color-scheme: light dark; --page: #fff; --card: #f6f7f9; --ink: #1b1f24; --quiet: #5c6570;
  --rule: #d8dde3; --low: #0072b2; --high: #c75000; --main: #0072b2; --good: #00704f; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --page: #14171a; --card: #1d2126; --ink: #e6e9ec;
  --quiet: #a0a9b3; --rule: #363c44; --low: #56b4e9; --high: #ff9a52; --main: #56b4e9;
  --good: #4fd1a1; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 1.2rem 1rem 3rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
h3 { font-size: .95rem; margin: 0 0 .3rem; font-weight: 600; }
p { margin: .4rem 0; overflow-wrap: anywhere; } .quiet { color: var(--quiet); }
.verdict { font-weight: 600; } .good { color: var(--good); } .bad { color: var(--bad); }
.formula { font-family: ui-serif, Georgia, "DejaVu Serif", serif; font-size: 1.1rem; margin: .6rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .25rem 1.1rem .25rem 0;
  border-bottom: 1px solid var(--rule); }
th { font-weight: 500; color: var(--quiet); } td.number, th.number { text-align: right; }
td.number { white-space: nowrap; }
.charts { display: grid; margin-top: 1rem; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); }
figure { margin: 0; background: var(--card); border-radius: .5rem; padding: .7rem .7rem .4rem; }
figure svg { display: block; width: 100%; height: auto; }
figcaption { font-size: .85rem; color: var(--quiet); padding: .2rem .1rem; }
svg text { font-size: 13px; fill: var(--quiet); text-anchor: middle; } svg text.end { text-anchor: end; }
svg .grid { stroke: var(--rule); stroke-width: 1; }
svg .level { stroke: var(--quiet); stroke-width: 1.5; stroke-dasharray: 2 4; }
svg .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
svg .dots { fill: none; stroke-width: 4; stroke-linecap: round; }
svg path.low { stroke: var(--low); } svg path.high { stroke: var(--high); }
svg path.main { stroke: var(--main); } svg circle.main { fill: var(--main); }
svg circle.low { fill: var(--low); } svg circle.high { fill: var(--high); }
.key { display: inline-block; width: .7em; height: .7em; border-radius: 50%; margin-right: .35em; }
.key.low { background: var(--low); } .key.high { background: var(--high); }
@media (max-width: 30rem) { th, td { padding-right: .6rem; } }
details { margin: .7rem 0; } summary { cursor: pointer; }
"""
