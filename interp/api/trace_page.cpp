// See trace_page.h. The data is JSON in an element of its own; its members are named where trace_html.cpp
// writes them.
#include "interp/api/trace_page.h"

namespace posset::api {

const char* const kTracePageHead = R"page(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Posset trace</title>
<style>
:root { color-scheme: light dark; --back: #fff; --text: #1c1f24; --soft: #667; --line: #d8dbe2; --bar: #3b76c4;
  --mark: #b5541c; --heat: 224, 92, 32; }
@media (prefers-color-scheme: dark) {
  :root { --back: #16181d; --text: #dfe3ea; --soft: #98a0ae; --line: #343943; --bar: #6ea3ea; --mark: #e8935a;
    --heat: 240, 120, 50; }
}
body { margin: 0 auto; max-width: 76rem; padding: 1rem; background: var(--back); color: var(--text);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { font-size: 1.3rem; margin: 0 0 .2rem; } h2 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p { margin: .2rem 0; color: var(--soft); }
canvas.small { height: 90px; } [hidden] { display: none; }
canvas { width: 100%; border: 1px solid var(--line); border-radius: 4px; display: block; touch-action: none; }
#details { min-height: 1.5em; font-family: ui-monospace, monospace; font-size: 13px; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; } .number { text-align: right; font-variant-numeric: tabular-nums; }
td:not(:last-child), th { white-space: nowrap; } td:last-child { min-width: 20rem; } td small, .soft { color: var(--soft); }
.wide { overflow-x: auto; }
pre { margin: 0; font: 13px/1.5 ui-monospace, monospace; overflow-x: auto; border: 1px solid var(--line);
  border-radius: 4px; padding: .4rem 0; }
.line { display: block; white-space: pre; padding-right: 1rem; }
.gutter { display: inline-block; width: 13em; padding: 0 1em 0 .6em; text-align: right; color: var(--soft);
  user-select: none; }
</style>
</head>
<body>
<h1>Posset trace</h1>
<p id="summary"></p>
<h2>Timeline</h2>
<p>Wheel: zoom; drag: move; double click: everything. Lines join a request, its compilation and the first entry.</p>
<canvas id="timeline"></canvas>
<p id="details"></p>
<h2>Units</h2>
<p>Functions of equal structure are one unit, shown where the first stands. Executions are counted as long as
they can still change a tier; those of a loop in the code around it are not.</p>
<div class="wide"><table id="units"><thead><tr><th>unit</th><th>place</th><th>part</th><th class="number">tier</th>
<th class="number">executions</th><th>why not higher</th></tr></thead><tbody></tbody></table></div>
<section id="parallel" hidden>
<h2>Parts</h2>
<p>What other executors were given, by the place where it was left; of parts within parts of the same place, the outermost. Work: on both
sides of it. Span: the longer side. Possible: work over span, with any number of executors. Achieved: work over the time that went by.</p>
<div class="wide"><table id="forks"><thead><tr><th>place</th><th class="number">taken</th><th class="number">done again</th>
<th>work</th><th>span</th><th>time</th><th>possible</th><th>achieved</th></tr></thead><tbody></tbody></table></div>
</section>
<section id="solving" hidden>
<h2>Fixed points</h2>
<p>The curve: the largest residual, each power of ten a line, over time, at every scan.</p>
<div class="wide"><table id="solves"><thead><tr><th>system</th><th>schedule</th><th class="number">workers</th>
<th>status</th><th class="number">updates</th><th class="number">rebuilds</th><th class="number">residual</th>
<th class="number">time</th><th>residual over time</th></tr></thead><tbody></tbody></table></div>
</section>
<section id="graphs" hidden>
<h2>Graph nodes</h2>
<p>Nodes of one name are told together. The curve: messages that waited for the node, over time, at its turns.</p>
<div class="wide"><table id="nodes"><thead><tr><th>node</th><th>turns by band</th><th class="number">turns</th>
<th class="number">messages</th><th class="number">time</th><th class="number">most waiting</th>
<th class="number">blocked</th><th class="number">for</th><th>by full edges</th><th>waiting over time</th></tr></thead><tbody></tbody></table></div>
</section>
<div id="sources"></div>
<script type="application/json" id="data">)page";

const char* const kTracePageTail = R"page(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const element = (name, text, kind) => {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
};
const byId = id => document.getElementById(id);
const events = data.events.map(([time, thread, name, details, unit, job, took]) =>
  ({time, thread, name, details, unit, job, took, begin: took < 0 ? time : time - took}));

const some = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
byId("summary").textContent = `Version ${data.version}, Posset ${data.posset}: ${some(events.length, "event")}, ` +
  `${data.dropped} dropped, ${some(data.units.length, "unit")}, ${some(data.threads.length, "thread")}` +
  data.tiers.map(tier => `; ${tier.text}`).join("");

function fillUnits() {
  const body = document.querySelector("#units tbody");
  const parts = data.units.flatMap(unit => unit.parts.map(part => ({unit, part})));
  parts.sort((a, b) => b.part.count - a.part.count);
  for (const {unit, part} of parts) {
    const row = body.insertRow();
    row.append(element("td", unit.name), element("td", unit.place),
      element("td", part.loop < 0 ? "body" : `loop ${part.loop}, line ${part.first}`),
      element("td", unit.forgotten ? "forgotten" : part.tier, "number"), element("td", part.count, "number"));
    const why = row.insertCell();
    if (part.within) why.append(element("div", "runs as part of the code around it"));
    for (const [tier, code, text] of part.why) {
      // True of every unit alike, so it must not hide what is true of one.
      const line = element("div", `tier ${tier}: ${text} `, code === "not_built" ? "soft" : undefined);
      line.append(element("small", code));
      why.append(line);
    }
    for (const text of part.exits) why.append(element("div", text));
  }
}

const duration = micros => micros === null ? "" : micros < 1000 ? `${micros.toFixed(1)} us` :
  micros < 1e6 ? `${(micros / 1000).toFixed(2)} ms` : `${(micros / 1e6).toFixed(3)} s`;

// A small curve through points [x, y]; `lines` are heights that get a line.
function drawCurve(canvas, points, lines) {
  const style = getComputedStyle(document.documentElement), ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth || 320, height = canvas.clientHeight || 90;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d"), edge = 4;
  pen.scale(ratio, ratio);
  const extent = values => values.reduce(([least, most], each) => [Math.min(least, each), Math.max(most, each)],
    [Infinity, -Infinity]);
  const [left, right] = extent(points.map(each => each[0])), [low, high] = extent(points.map(each => each[1]));
  const x = value => edge + (value - left) / (right - left || 1) * (width - 2 * edge);
  const y = value => height - edge - (value - low) / (high - low || 1) * (height - 2 * edge);
  pen.fillStyle = style.getPropertyValue("--line");
  for (const each of lines(low, high)) pen.fillRect(0, y(each), width, 1);
  pen.strokeStyle = style.getPropertyValue("--bar");
  pen.lineWidth = 1.5;
  pen.beginPath();
  points.forEach(([at, value], n) => n ? pen.lineTo(x(at), y(value)) : pen.moveTo(x(at), y(value)));
  pen.stroke();
}

// A row for each item: texts, numbers to the right, and a curve last, if there is one.
function fillPanel(section, table, items, cells, curve) {
  byId(section).hidden = items.length === 0;
  const body = document.querySelector(`#${table} tbody`);
  for (const item of items) {
    const row = body.insertRow();
    for (const text of cells(item)) row.append(element("td", text, typeof text === "number" ? "number" : undefined));
    if (!curve) continue;
    const canvas = element("canvas", undefined, "small"), [points, lines] = curve(item);
    row.insertCell().append(canvas);
    if (points.length > 1) drawCurve(canvas, points, lines);
  }
}

function fillForks() {
  const times = (work, other) => other > 0 ? `${(work / other).toFixed(2)} x` : "";
  fillPanel("parallel", "forks", data.forks, fork => [fork.place, fork.taken, fork.again, duration(fork.work), duration(fork.span),
    duration(fork.elapsed), times(fork.work, fork.span), times(fork.work, fork.elapsed)]);
}

function fillSolves() {
  fillPanel("solving", "solves", data.solves, solve => [some(solve.coordinates, "coordinate"), solve.schedule,
    solve.workers, solve.status, solve.updates, solve.rebuilds,
    solve.residual === null ? "" : solve.residual.toExponential(2), duration(solve.took)],
  solve => [solve.points.filter(each => each[2] > 0).map(each => [each[0], Math.log10(each[2])]), (low, high) => {
    const powers = [];
    for (let power = Math.ceil(low); power <= high && powers.length < 40; ++power) powers.push(power);
    return powers;
  }]);
}

function fillNodes() {
  const share = (band, node) => node.bands.length === 1 ? band.name : `${band.name} ${(100 * band.turns / node.turns).toFixed(0)} %`;
  fillPanel("graphs", "nodes", data.nodes, node => [node.name, node.bands.map(band => share(band, node)).join(", "), node.turns,
    node.messages, duration(node.took), node.waiting, node.blocked, duration(node.blockedFor),
    node.full.map(each => `${each.edge} (${each.times})`).join(", ")], node => [node.points, low => [low]]);
}

function fillSources() {
  // A loop in the code around it is as hot as that.
  const around = (unit, part) => unit.parts.find(each => each.loop === part.parent);
  const heat = (unit, part) => part.within ? Math.max(part.count, heat(unit, around(unit, part))) : part.count;
  const parts = data.units.flatMap(unit => unit.parts.map(part => ({...part, count: heat(unit, part)})));
  const most = parts.reduce((most, part) => Math.max(most, part.count), 1);
  data.sources.forEach((source, index) => {
    const here = parts.filter(part => part.source === index);
    // The innermost part that has the line says how hot it is.
    here.sort((a, b) => (b.last - b.first) - (a.last - a.first) || a.loop - b.loop);
    const page = element("pre");
    source.text.split("\n").forEach((text, at) => {
      const part = here.filter(each => each.first <= at + 1 && at + 1 <= each.last).pop();
      const line = element("span", undefined, "line");
      const told = part && part.count ? `${part.count} ×, tier ${part.tier}  ${at + 1}` : `${at + 1}`;
      line.append(element("span", told, "gutter"), text);
      if (part && part.count) {
        const heat = 0.05 + 0.45 * Math.log(1 + part.count) / Math.log(1 + most);
        line.style.background = `rgba(var(--heat), ${heat.toFixed(3)})`;
      }
      page.append(line);
    });
    byId("sources").append(element("h2", source.file), page);
  });
}

const canvas = byId("timeline"), rowHeight = 30, left = 96;
// Not Math.max(...): there may be more events than a call can have arguments.
const end = events.reduce((most, event) => Math.max(most, event.time), 1);
const start = events.reduce((least, event) => Math.min(least, event.begin), end);
let from = start, to = end, drag = null;
const jobs = new Map();
for (const event of events) {
  if (event.job < 0 || event.unit < 0) continue;
  if (!jobs.has(event.job)) jobs.set(event.job, []);
  jobs.get(event.job).push(event);
}
const names = new Map(data.units.map(unit => [unit.number, unit.name]));
const span = () => Math.max(to - from, 0.001);
const xOf = time => left + (time - from) / span() * (canvas.clientWidth - left - 8);
const timeAt = x => from + (x - left) / (canvas.clientWidth - left - 8) * span();
const yOf = event => event.thread * rowHeight + rowHeight / 2;
const anchor = event => [xOf(event.took < 0 ? event.time : event.begin), yOf(event)];

// Round times, as many as there is room for.
function drawTimes(pen, color, height) {
  const most = Math.max(1, (canvas.clientWidth - left) / 110), rough = span() / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= rough) || rough;
  const digits = Math.max(0, 3 - Math.floor(Math.log10(step)));
  for (let i = Math.ceil(from / step); i * step <= to; ++i) {
    const x = xOf(i * step), text = (i * step / 1000).toFixed(Math.min(digits, 6)) + " ms";
    pen.fillStyle = color("--line");
    pen.fillRect(x, 0, 1, height - 20);
    pen.fillStyle = color("--soft");
    pen.fillText(text, Math.min(x, canvas.clientWidth - 8 - pen.measureText(text).width), height - 6);
  }
}

// A slice, with the name of its unit where that fits.
function drawBar(pen, color, event, y) {
  const x = xOf(event.begin), width = Math.max(1.5, xOf(event.time) - x), name = names.get(event.unit);
  pen.fillRect(x, y - 10, width, 20);
  const seen = Math.max(x, left);
  if (!name || pen.measureText(name).width + 8 > x + width - seen) return;
  pen.globalAlpha = 1;
  pen.fillStyle = color("--text");
  pen.fillText(name, seen + 4, y + 4);
}

function draw() {
  const style = getComputedStyle(document.documentElement), color = name => style.getPropertyValue(name);
  const ratio = window.devicePixelRatio || 1, height = data.threads.length * rowHeight + 22;
  canvas.style.height = height + "px";
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "12px system-ui, sans-serif";
  data.threads.forEach((name, row) => {
    pen.fillStyle = color("--soft");
    pen.fillText(name, 8, row * rowHeight + 19);
    pen.fillStyle = color("--line");
    pen.fillRect(0, (row + 1) * rowHeight, canvas.clientWidth, 1);
  });
  drawTimes(pen, color, height);
  pen.save();
  pen.beginPath();
  pen.rect(left - 2, 0, canvas.clientWidth, height);
  pen.clip();
  for (const event of events) {
    if (event.time < from || event.begin > to) continue;
    const y = yOf(event);
    pen.globalAlpha = event.took < 0 ? 0.9 : 0.55;
    pen.fillStyle = color(event.took < 0 ? "--mark" : "--bar");
    if (event.took < 0) pen.fillRect(xOf(event.time), y - 6, 1.5, 12);
    else drawBar(pen, color, event, y);
  }
  pen.globalAlpha = 0.5;
  pen.strokeStyle = color("--soft");
  for (const chain of jobs.values()) {
    pen.beginPath();
    chain.forEach((event, at) => at ? pen.lineTo(...anchor(event)) : pen.moveTo(...anchor(event)));
    pen.stroke();
  }
  pen.restore();
}

function nearest(x, y) {
  const row = Math.floor(y / rowHeight), time = timeAt(x);
  let best = null, distance = 6;
  for (const event of events) {
    if (event.thread !== row) continue;
    const inside = event.took >= 0 && event.begin <= time && time <= event.time;
    const away = inside ? 3 : Math.abs(xOf(event.took < 0 ? event.time : event.begin) - x);
    if (away < distance) [best, distance] = [event, away];
  }
  return best;
}

canvas.addEventListener("wheel", event => {
  event.preventDefault();
  const middle = timeAt(event.offsetX), factor = Math.exp(event.deltaY * 0.002);
  from = Math.max(start, middle - (middle - from) * factor);
  to = Math.min(end, middle + (to - middle) * factor);
  draw();
}, {passive: false});
canvas.addEventListener("pointerdown", event => { drag = event.offsetX; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointerup", () => { drag = null; });
canvas.addEventListener("dblclick", () => { from = start; to = end; draw(); });
canvas.addEventListener("pointermove", event => {
  if (drag !== null) {
    const by = Math.min(Math.max(timeAt(drag) - timeAt(event.offsetX), start - from), end - to);
    from += by;
    to += by;
    drag = event.offsetX;
    draw();
  }
  const found = nearest(event.offsetX, event.offsetY);
  byId("details").textContent = found ? `+${(found.time / 1000).toFixed(3)}ms ${found.name} ${found.details}` : "";
});
window.addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
fillUnits();
fillForks();
fillSolves();
fillNodes();
fillSources();
draw();
document.body.dataset.ready = "yes";
</script>
</body>
</html>
)page";

}  // namespace posset::api
