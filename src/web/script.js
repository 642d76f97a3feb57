// What the pages do in addition where scripts run: the focus, the progress of uploads and runs,
// and a word when the program has ended. Everything else works without it.
"use strict";

(() => {
  const SECOND = 1000;
  const GONE =
    "leadload has stopped running. What was sent is remembered. Start leadload again, open History and press Resume.";
  const heading = document.getElementById("heading");
  const errors = document.getElementById("errors");
  const live = document.getElementById("live");
  const said = document.getElementById("said");
  let misses = 0;

  // A screen begins at its heading, or after a mistake at what is wrong.
  if (errors) errors.focus();
  else if (heading && !location.hash) heading.focus();

  function sayGone() {
    const gone = document.getElementById("gone");
    gone.hidden = false;
    gone.textContent = GONE;
  }

  // The answer, or nothing if the program does not give one.
  async function fetched(address) {
    try {
      const answer = await fetch(address, { credentials: "same-origin", redirect: "manual" });
      // Another leadload at this address lets nobody in who was signed in before.
      if (answer.status === 403) throw new Error("not signed in");
      misses = 0;
      document.getElementById("gone").hidden = true;
      return answer;
    } catch {
      misses += 1;
      if (misses === 3) sayGone();
      return null;
    }
  }

  const parsed = async (answer) => new DOMParser().parseFromString(await answer.text(), "text/html");

  // Renews a part of the screen, unless that would take the focus from it.
  function renew(part, by) {
    if (part.innerHTML === by.innerHTML || part.contains(document.activeElement)) return;
    part.replaceChildren(...by.childNodes);
  }

  // The next stage of a run: the same screen with another heading and other buttons. A button that
  // is gone gives the focus back to the heading.
  async function nextStage(stage) {
    const answer = await fetched(location.href);
    if (!answer) return;
    if (answer.type === "opaqueredirect") return location.reload();
    const now = await parsed(answer);
    const has = (document.activeElement ?? document.body).closest("#rest") !== null;
    const main = document.querySelector("main");
    if (now.getElementById("errors")) return location.reload();
    document.title = now.title;
    for (const part of main.querySelectorAll("#heading, #live, #rest")) {
      part.replaceChildren(...now.getElementById(part.id).childNodes);
    }
    document.getElementById("help").textContent = now.getElementById("help")?.textContent ?? "";
    live.dataset.stage = stage;
    if (stage === "over") delete live.dataset.live;
    if (has) heading.focus();
  }

  // The numbers of a run, once a second. Only what is said stands in a live region.
  async function followRun() {
    const answer = await fetched(live.dataset.live);
    if (answer?.ok) {
      const now = (await parsed(answer)).querySelector("[data-stage]");
      if (now.dataset.stage === live.dataset.stage) renew(live, now);
      else await nextStage(now.dataset.stage);
      if (said.textContent !== now.dataset.said) said.textContent = now.dataset.said;
    }
    if (live.dataset.live) setTimeout(followRun, SECOND);
    else setTimeout(followOthers, SECOND);
  }

  // What else is being sent, and whether the program is still there.
  async function followOthers() {
    const sending = document.getElementById("sending");
    const answer = await fetched(sending.dataset.live);
    if (answer?.ok) renew(sending, (await parsed(answer)).body);
    setTimeout(followOthers, 2 * SECOND);
  }

  // A screen that waits for work is loaded again until it is done.
  async function awaitWork() {
    const answer = await fetched(location.href);
    if (answer) {
      const now = answer.type === "basic" && (await parsed(answer));
      // A form that waits is not sent again. With a hash, only a reload loads anything.
      if (!now || !now.body.hasAttribute("data-waiting")) {
        return location.hash ? location.reload() : location.replace(location.href);
      }
      renew(document.getElementById("progress"), now.getElementById("progress"));
    }
    setTimeout(awaitWork, SECOND / 2);
  }

  if (document.body.hasAttribute("data-waiting")) setTimeout(awaitWork, SECOND / 2);
  else if (live && live.dataset.live) setTimeout(followRun, SECOND);
  else if (document.getElementById("sending")) setTimeout(followOthers, 2 * SECOND);

  // A list is uploaded when it is chosen, and the page shows how far it is.
  for (const form of document.querySelectorAll("form[data-upload]")) {
    const file = form.querySelector("input[type=file]");
    if (!file) continue;
    const bar = form.querySelector("progress");
    let request = null;
    const send = () => {
      // Only what was chosen last counts.
      request?.abort();
      request = new XMLHttpRequest();
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
      request.onerror = async () => {
        bar.hidden = true;
        // Either the file has changed under the browser's hands, or the program has ended.
        if (await fetched(form.action)) {
          problem(form, `Your browser couldn't read ${file.files[0].name}. Did you save it after choosing it? Choose it again.`);
        } else sayGone();
      };
      bar.hidden = false;
      request.open("POST", form.action);
      request.send(new FormData(form));
    };
    file.addEventListener("change", () => { if (file.files.length) send(); });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (bar.hidden && form.reportValidity()) send();
    });
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
