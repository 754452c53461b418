// Search as one types and keys. Everything works without this file. Data becomes text nodes, never markup.
"use strict";
(() => {
  const field = document.getElementById("q");
  const list = document.getElementById("suggestions");
  let waiting = 0, asked = 0, answered = "", choosing = null, before = "";

  function show(found) {
    let path = "";
    list.replaceChildren(...found.flatMap((one) => {
      const link = document.createElement("a");
      link.textContent = one.line ? `${one.name}  ${one.line}` : one.name;
      link.setAttribute("href", one.url.startsWith("/") && !one.url.startsWith("//") ? one.url : "/");
      link.className = "item";
      const item = document.createElement("li");
      item.append(link);
      if (!one.path || one.path === path) return [item];
      const file = document.createElement("li");
      file.className = "place";
      file.textContent = path = one.path;
      return [file, item];
    }));
    list.hidden = !found.length;
  }

  async function suggest() {
    const text = field.value.trim(), mine = ++asked;
    let found = [];
    if (text.length >= 2) {
      try {
        const answer = await fetch(`/suggest?q=${encodeURIComponent(text.slice(0, 500))}`);
        if (answer.ok) found = await answer.json();
      } catch { found = []; }
    }
    if (mine === asked) { show(found); answered = text; }
  }

  // The list may still answer the first letters of a word: a choice waits for the list of the whole text.
  async function first() {
    if (field.value.trim() !== answered) { clearTimeout(waiting); await suggest(); }
    return field.value.trim() === answered ? list.querySelector("a") : null;
  }

  field.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(suggest, 90); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { show([]); field.blur(); }
    if (event.key === "ArrowDown") {
      event.preventDefault();
      choosing = first();
      choosing.then((link) => { choosing = null; link?.focus(); });
    } else if (event.key === "Enter" && choosing) {
      event.preventDefault();
      choosing.then((link) => link ? link.click() : field.form.requestSubmit());
    }
  });

  function move(step) {
    const shown = [...document.querySelectorAll(list.hidden ? "main a.item" : "#suggestions a")];
    if (!shown.length) return;
    const at = shown.indexOf(document.activeElement);
    const next = shown[at < 0 ? (step > 0 ? 0 : shown.length - 1) : Math.min(Math.max(at + step, 0), shown.length - 1)];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea")) return;
    if (list.contains(event.target) && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      return move(event.key === "ArrowDown" ? 1 : -1);
    }
    const key = before === "g" ? `g ${event.key}` : event.key;
    before = event.key;
    if (key === "/") { event.preventDefault(); field.focus(); field.select(); }
    else if (key === "j") move(1);
    else if (key === "k") move(-1);
    else if (key === "g s") location.assign("/search");
    else if (key === "g h") location.assign("/");
    else if (key === "Escape") show([]);
  });

  for (const shown of document.querySelectorAll("pre[data-live]")) {
    const source = new EventSource(shown.dataset.live);
    source.addEventListener("message", (event) => { shown.textContent = JSON.parse(event.data); });
    addEventListener("pagehide", () => source.close());
  }

  // a conversation: text of entries as it comes; the page is loaded again when it offers something else
  for (const talk of document.querySelectorAll("ol[data-talk]")) {
    if (talk.dataset.state === "idle") continue;
    document.getElementById("end").scrollIntoView({ block: "nearest" });
    const source = new EventSource(talk.dataset.talk);
    source.addEventListener("message", (event) => {
      const found = JSON.parse(event.data);
      for (const [number, kind, text] of found.entries) {
        let entry = talk.querySelector(`li[data-entry="${Number(number)}"]`);
        if (!entry) {
          entry = document.createElement("li");
          entry.dataset.entry = Number(number);
          entry.className = kind;
          talk.append(entry);
        }
        entry.textContent = text;
      }
      if (found.state !== talk.dataset.state) { source.close(); location.reload(); }
    });
    addEventListener("pagehide", () => source.close());
  }

  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    });
  }
})();
