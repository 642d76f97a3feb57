// What the pages do in addition where scripts run: the focus, the progress of uploads and runs,
// and a word when the program has ended. Everything else works without it.
"use strict";

(() => {
  const SECOND = 1000;
  const heading = document.getElementById("heading");
  const errors = document.getElementById("errors");
  const gone = document.getElementById("gone");
  let misses = 0;

  // A screen begins at its heading, or after a mistake at what is wrong.
  if (errors) errors.focus();
  else if (heading && !location.hash) heading.focus();

  async function fetched(address) {
    try {
      const answer = await fetch(address, { credentials: "same-origin", redirect: "manual" });
      if (answer.type !== "opaqueredirect" && !answer.ok) throw new Error(answer.status);
      misses = 0;
      gone.hidden = true;
      return answer;
    } catch {
      misses += 1;
      if (misses === 3) {
        gone.textContent =
          "leadload has stopped running. What was sent is remembered. Start leadload again, open History and press Resume.";
        gone.hidden = false;
      }
      return null;
    }
  }

  // The numbers of a run, once a second.
  const live = document.getElementById("live");
  async function renew() {
    const answer = await fetched(live.dataset.live);
    if (answer && answer.ok) {
      const fragment = new DOMParser().parseFromString(await answer.text(), "text/html");
      const now = fragment.querySelector("[data-said]");
      if (now) {
        if (now.dataset.over || Boolean(now.dataset.begun) !== Boolean(live.dataset.begun)) {
          location.reload();
          return;
        }
        live.replaceChildren(...now.childNodes);
        const said = document.getElementById("said");
        if (said.textContent !== now.dataset.said) said.textContent = now.dataset.said;
      }
    }
    setTimeout(renew, SECOND);
  }
  if (live && live.dataset.live) setTimeout(renew, SECOND);

  // A screen that waits for work is loaded again until it is done.
  if (document.body.hasAttribute("data-waiting")) {
    const again = async () => {
      if (await fetched(location.href)) location.reload();
      else setTimeout(again, SECOND);
    };
    setTimeout(again, SECOND / 2);
  } else if (!live) {
    setInterval(() => fetched(document.querySelector("link[rel=stylesheet]").href), 5 * SECOND);
  }

  // A list is uploaded when it is chosen, and the page shows how far it is.
  for (const form of document.querySelectorAll("form[data-upload]")) {
    const file = form.querySelector("input[type=file]");
    if (!file) continue;
    const bar = form.querySelector("progress");
    const send = () => {
      const request = new XMLHttpRequest();
      request.upload.onprogress = (event) => {
        if (event.lengthComputable) bar.value = (100 * event.loaded) / event.total;
      };
      request.onload = () => {
        if (request.responseURL && request.responseURL !== location.href && request.status < 400) {
          location.assign(request.responseURL);
        } else {
          document.open();
          document.write(request.responseText);
          document.close();
        }
      };
      request.onerror = () => {
        bar.hidden = true;
        problem(form, `Your browser couldn't read ${file.files[0].name}. Did you save it after choosing it? Choose it again.`);
      };
      bar.hidden = false;
      request.open("POST", form.action);
      request.send(new FormData(form));
    };
    file.addEventListener("change", () => { if (file.files.length) send(); });
    form.addEventListener("submit", (event) => { event.preventDefault(); if (form.reportValidity()) send(); });
  }

  function problem(form, text) {
    let box = form.querySelector("[role=alert]");
    if (!box) {
      box = document.createElement("p");
      box.setAttribute("role", "alert");
      box.className = "errors";
      form.prepend(box);
    }
    box.textContent = text;
  }
})();
