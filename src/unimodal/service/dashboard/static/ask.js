// A question before every change. What went wrong is told in the dialog, which stays.
import { byId } from "./common.js";

let act = null;

export function ask({ title, text, yes, danger = false, fields = [], act: work }) {
  act = work;
  byId("ask-title").replaceChildren(...title);
  byId("ask-text").textContent = text;
  byId("ask-fields").replaceChildren(...fields);
  byId("ask-yes").textContent = yes;
  byId("ask-yes").className = danger ? "danger" : "confirm";
  byId("ask-yes").disabled = false;
  byId("ask-problem").hidden = true;
  byId("ask").showModal();
  (byId("ask").querySelector("input") || byId("ask-no")).focus();
}

const dialog = byId("ask");
if (dialog) {
  byId("ask-no").addEventListener("click", () => dialog.close());
  dialog.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    byId("ask-yes").disabled = true;
    try {
      await act();
      dialog.close();
    } catch (error) {
      byId("ask-problem").hidden = false;
      byId("ask-problem").textContent = error.message;
    }
    byId("ask-yes").disabled = false;
  });
}
