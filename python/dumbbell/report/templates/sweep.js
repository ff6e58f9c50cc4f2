(function () {
  "use strict";
  const models = document.getElementById("models");
  if (models) {
    if (!document.querySelector(".of-model")) { models.parentElement.hidden = true; }
    models.addEventListener("change", function () {
      document.querySelector("main").classList.toggle("no-models", !models.checked);
    });
  }
})();
