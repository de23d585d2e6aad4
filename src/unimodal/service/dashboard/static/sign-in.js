import { byId, say } from "./common.js";

byId("sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  const input = byId("token");
  try {
    const response = await fetch("/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      credentials: "same-origin",
      body: JSON.stringify({ token: input.value.trim() }),
    });
    if (response.ok) {
      location.assign(document.body.dataset.then);
      return;
    }
    say((await response.json()).detail);
  } catch {
    say("the service could not be reached: try again.");
  }
  input.select();
  input.focus();
});
