// Controls that need no figures: a switch for light and dark, buttons that copy a command. And what the other files
// share: elements, colours, what is drawn again when the colours change.

const root = document.documentElement;
const media = window.matchMedia("(prefers-color-scheme: dark)");
const redraws = [];
const variable = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// Light and dark: as the system wishes until somebody presses the switch.
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : media.matches);
const themeSwitch = document.getElementById("theme");
function nameTheme() {
  themeSwitch.textContent = isDark() ? "Light" : "Dark";
}
themeSwitch.hidden = false;
themeSwitch.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
  redraws.forEach((redraw) => redraw());
});
media.addEventListener("change", () => {
  nameTheme();
  redraws.forEach((redraw) => redraw());
});
nameTheme();

// A page from a file may not reach the clipboard: then the command is selected instead.
for (const button of document.querySelectorAll("button[data-copy]")) {
  const code = document.getElementById(button.dataset.copy);
  button.hidden = false;
  button.addEventListener("click", () => {
    const select = () => {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
    };
    const done = (word) => {
      button.textContent = word;
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    };
    const byHand = () => {
      select();
      done(document.execCommand("copy") ? "Copied" : "Selected");
    };
    if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(() => done("Copied"), byHand);
    else byHand();
  });
}
