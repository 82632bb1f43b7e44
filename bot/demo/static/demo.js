// Shows the bot's comment as soon as it is there. Without this file the page loads itself anew until then.
"use strict";

async function follow() {
  let misses = 0;
  while (misses < 5) {
    const here = document.getElementById("timeline");
    if (here.dataset.state !== "waiting") return;
    try {
      const answer = await fetch(`${here.dataset.news}?seen=${encodeURIComponent(here.dataset.seen)}`);
      if (!answer.ok) throw new Error(answer.statusText);
      here.replaceWith(new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("timeline"));
      misses = 0;
    } catch {
      misses += 1;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

follow();
