/* Says what a page shows, part by part, as its reader sees it. */
const words = e => e.innerText.replace(/[\u2009\u00a0]/g, " ").replace(/\s+/g, " ").trim();
say("title: " + document.title);
say("summary: " + words(document.getElementById("summary")));
for (const section of document.querySelectorAll("main > section")) {
  say("");
  say("# " + words(section.querySelector("h2")));
  for (const table of section.querySelectorAll(".wide > table:not(.source)")) {
    say(words(table.tHead));
    for (const row of table.tBodies[0].rows) say("  " + [...row.cells].filter(c => c.offsetWidth).map(words).join(" | "));
  }
  for (const card of section.querySelectorAll(".card")) say("  card: " + words(card));
  for (const head of section.querySelectorAll("h3 > .code")) say("  file: " + words(head));
  for (const row of section.querySelectorAll(".source tbody > tr")) {
    const cells = [...row.cells].filter(c => c.offsetWidth);
    if (row.classList.contains("remark")) say("    >> " + words(row));
    else if (row.classList.contains("gap")) say("  " + words(row));
    else say("  " + cells.slice(0, -1).map(c => words(c).padStart(11)).join("") + "  " + cells[cells.length - 1].textContent);
  }
  for (const op of section.querySelectorAll(".op")) say("  " + op.getAttribute("aria-label"));
  for (const name of section.querySelectorAll("svg > text:not(.faint)")) say("  label: " + name.textContent);
}
