"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const search = byId("search"), code = byId("code"), reason = byId("reason");
  const items = [...document.querySelectorAll(".item")].map((item) => ({
    item,
    own: [...item.querySelectorAll("[data-own]")].map((part) => part.textContent).join(" ").toLowerCase(),
    failures: [...item.querySelectorAll(".failure")].map((failure) => ({
      failure, code: failure.dataset.code, reason: failure.dataset.reason, text: failure.textContent.toLowerCase(),
    })),
    link: document.querySelector(`nav a[href="#${CSS.escape(item.id)}"]`),
  }));
  const total = items.reduce((sum, { failures }) => sum + failures.length, 0);

  function apply() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const filtered = code.value !== "" || reason.value !== "";
    let shown = 0, tools = 0;
    for (const { item, own, failures, link } of items) {
      let inside = 0;
      for (const entry of failures) {
        const fits = (code.value === "" || entry.code === code.value)
          && (reason.value === "" || entry.reason === reason.value)
          && words.every((word) => own.includes(word) || entry.text.includes(word));
        entry.failure.hidden = !fits;
        inside += fits;
      }
      const visible = inside > 0 || (!filtered && words.every((word) => own.includes(word)));
      item.hidden = !visible;
      if (link) link.parentElement.hidden = !visible;
      shown += inside;
      tools += visible;
    }
    for (const section of document.querySelectorAll("main > section")) {
      section.hidden = items.length > 0 && !section.querySelector(".item:not([hidden])") && !section.dataset.always;
    }
    byId("count").value = `${shown} of ${total} failure modes`;
    byId("empty").hidden = tools > 0;
  }

  function reset() {
    search.value = code.value = reason.value = "";
    apply();
  }

  // A link to a reason must lead to it whatever the filters hide.
  function reveal() {
    const target = location.hash.length > 1 ? byId(decodeURIComponent(location.hash.slice(1))) : null;
    if (target && (target.hidden || target.closest("[hidden]"))) {
      reset();
      target.scrollIntoView();
    }
  }

  for (const field of [search, code, reason]) field.addEventListener("input", apply);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("reset").addEventListener("click", () => { reset(); search.focus(); });
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && document.activeElement === search) {
      search.value = "";
      apply();
    }
  });
  addEventListener("hashchange", reveal);
  byId("filters").hidden = false;
  byId("theme").hidden = false;
  apply();
  reveal();
})();
