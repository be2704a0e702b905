/** The first stop of the Tab key, in sight only while it has the focus: it leads past the bar and the menu to what the mode shows. */
export function SkipLink() {
  return (
    <a
      href="#app"
      className="skip-link"
      onClick={(event) => {
        // The part of the address behind `#` is the report.
        event.preventDefault();
        const main = document.querySelector<HTMLElement>('.mode:not([hidden]) main');
        if (!main) return;
        main.tabIndex = -1;
        main.focus();
      }}
    >
      Skip to the content
    </a>
  );
}
