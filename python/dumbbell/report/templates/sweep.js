(function () {
  "use strict";
  const models = document.getElementById("models");
  if (models) {
    if (!document.querySelector(".of-model")) { models.parentElement.hidden = true; }
    models.addEventListener("change", function () {
      document.querySelector("main").classList.toggle("no-models", !models.checked);
    });
  }
  // What is folded on the screen is on the paper; what was folded is so again afterwards.
  let folded = [];
  window.addEventListener("beforeprint", function () {
    folded = Array.from(document.querySelectorAll("details:not([open])"));
    folded.forEach(function (each) { each.open = true; });
  });
  window.addEventListener("afterprint", function () {
    folded.forEach(function (each) { each.open = false; });
  });
})();
