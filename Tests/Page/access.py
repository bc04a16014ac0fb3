"""Checks that everybody can use the page: by keyboard, by a screen reader, on any screen."""

import json

from browser import Failure
from checking import Checking
from probes import CONTRASTS


class AccessChecks(Checking):
    def keyboard(self):
        """Everything can be done with the keyboard alone, and it is seen where the focus is."""
        page = self.page
        focus = """(() => { const node = document.activeElement;
            return [node.id || (node.tagName === 'SUMMARY' && node.closest('ul, ol').id) || node.dataset.copy || node.closest('[data-sort]')?.dataset.sort || node.closest('[data-key]')?.dataset.key
              || node.getAttribute('aria-labelledby') || node.className || node.tagName,
              getComputedStyle(node).outlineStyle !== 'none']; })()"""
        self.open()
        visited = []
        for _ in range(40):
            page.key("Tab")
            name, is_visible = page.run(focus)
            if name in visited or name == "BODY":
                break
            self.expect(is_visible, f"the focus on {name} cannot be seen")
            visited.append(name)
        wanted = {"skip", "to-wall", "theme", "open-help", "regions-title", "region-list", "events", "keep", "name", "zone", "distance", "signal", "last",
                  "history-title", "receivers-title"}
        self.expect(wanted <= set(visited), f"Tab does not come to {sorted(wanted - set(visited))}; it comes to {visited}")

        def go(name):
            for _ in range(60):
                if page.run(focus)[0] == name:
                    return
                page.key("Tab")
            raise Failure(f"Tab does not come to {name}")
        go("name")
        page.key("Enter")
        self.wait("the order by name", "document.querySelector('[data-sort=name]').getAttribute('aria-sort') === 'ascending'")
        names = "[...document.querySelectorAll('#rows tr:not([data-zone=gone]) .name')].map((node) => node.textContent)"
        sort = "((list) => list.slice().sort(new Intl.Collator(undefined, { numeric: true }).compare))"
        self.wait("the rows in the order of the names", f"JSON.stringify({names}) === JSON.stringify({sort}({names}))")
        page.key("Enter")
        self.wait("the order reversed", "document.querySelector('[data-sort=name]').getAttribute('aria-sort') === 'descending'")
        self.wait("the rows reversed", f"JSON.stringify({names}) === JSON.stringify({sort}({names}).reverse())")
        self.expect(page.run("document.querySelectorAll('[aria-sort]').length") == 1, "more than one column is marked as sorted")
        page.key("Tab")
        for _ in range(10):
            if page.run("document.activeElement.closest('#rows') !== null"):
                break
            page.key("Tab")
        index = "[...document.querySelectorAll('#rows tr')].indexOf(document.activeElement.closest('tr'))"
        page.key("Home")
        self.wait("the first row", index + " === 0")
        page.key("ArrowDown")
        self.wait("the second row", index + " === 1")
        page.key("Enter")
        self.wait("the beacon to be chosen", "document.activeElement.getAttribute('aria-pressed') === 'true' && "
                  "document.querySelectorAll('[aria-pressed=true]').length === 1")
        page.key("End")
        self.wait("the last row", index + " === document.querySelectorAll('#rows tr').length - 1")
        go("region-list")
        index = "[...document.querySelectorAll('#region-list summary')].indexOf(document.activeElement)"
        regions = page.run("document.querySelectorAll('#region-list summary').length")
        page.key("End")
        self.wait("the last region", f"{index} === {regions - 1}")
        was_open = page.run("document.activeElement.parentNode.open")
        page.key("Enter")
        self.wait("the details to change", f"document.activeElement.parentNode.open === {json.dumps(not was_open)}")
        page.run("new Promise((done) => setTimeout(done, 1500))")
        self.expect(page.run("document.activeElement.parentNode.open") is not was_open, "the details do not stay as they were set")
        page.key("Home")
        self.wait("the first region", f"{index} === 0")
        go("theme")
        before = page.run("getComputedStyle(document.body).backgroundColor")
        page.key("Enter")
        page.key("Enter")
        self.wait("the dark theme", f"document.documentElement.dataset.theme === 'dark' && getComputedStyle(document.body).backgroundColor !== '{before}'")
        self.open()
        self.wait("the theme to be remembered", "document.documentElement.dataset.theme === 'dark'")
        page.run("document.activeElement.blur()")
        go("theme")
        page.key(" ")
        self.wait("the theme of the system", "document.documentElement.dataset.theme === undefined")
        go("open-help")
        page.key("Enter")
        self.wait("the help panel", "document.getElementById('help').open")
        go("snippet")
        page.key("Enter")
        self.wait("the copy to be confirmed", "document.querySelector('[data-copy=snippet]').textContent === 'Copied'")
        for _ in range(12):
            page.key("Tab")
            self.expect(page.run("document.activeElement === document.body || document.activeElement.closest('dialog') !== null"),
                        "the focus leaves the open panel")
        page.key("Escape")
        self.wait("the panel to close", "!document.getElementById('help').open")
        self.wait("the focus to be back", "document.activeElement.id === 'open-help'")
        page.run("document.activeElement.blur()")
        self.open()
        page.key("Tab")
        page.key("Enter")
        self.wait("the skip link to go to the list", "document.activeElement.id === 'beacons'")
        return f"{len(visited)} stops of Tab"

    def tree(self):
        """Each control and each landmark has a name; there are headings, a table and a polite live region."""
        controls = {"button", "checkbox", "link", "textbox", "combobox", "radio", "dialog", "table", "img", "region", "group", "disclosuretriangle"}
        total = 0

        def look():
            nodes = self.page.call("Accessibility.getFullAXTree")["nodes"]
            roles = {}
            for node in nodes:
                if node.get("ignored"):
                    continue
                role = node.get("role", {}).get("value", "")
                roles.setdefault(role.lower(), []).append(node.get("name", {}).get("value", ""))
            # What is shown on demand has its name in its first line.
            details = self.page.run("document.querySelectorAll('details').length")
            unnamed = [(role, names) for role, names in roles.items() if role in controls | {"image", "svgroot"}
                       and not all(n.strip() for n in names) and not (role == "group" and sum(not n.strip() for n in names) <= details)]
            self.expect(not unnamed, f"without a name: {unnamed}")
            return roles, sum(len(names) for role, names in roles.items() if role in controls)
        self.page.call("Accessibility.enable")
        roles, count = look()
        total += count
        self.expect({"Regions", "History", "Receiver"} <= set(roles.get("group", [])), f"the groups are {roles.get('group')}")
        for role, least in {"banner": 1, "main": 1, "region": 6, "heading": 7, "table": 1, "columnheader": 5, "rowheader": 1,
                            "status": 1, "button": 8, "checkbox": 1}.items():
            self.expect(len(roles.get(role, [])) >= least, f"{len(roles.get(role, []))} of role {role}; {least} are needed")
        live = self.page.run("document.getElementById('announcements').getAttribute('aria-live')")
        self.expect(live == "polite", f"the live region is {live}")
        levels = self.page.run("[...document.querySelectorAll('h1, h2, h3')].filter((node) => node.checkVisibility()).map((node) => +node.tagName[1])")
        self.expect(levels[0] == 1 and levels.count(1) == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:])), f"heading levels {levels}")
        self.page.run("document.getElementById('open-help').click()")
        roles, count = look()
        self.page.call("Accessibility.disable")  # It makes each change of the page cost more.
        self.expect("dialog" in roles, "the panel is no dialog")
        self.page.run("document.getElementById('close-help').click()")
        return f"{total + count} named controls and groups"

    def contrast(self):
        """Each text has the contrast of WCAG's level AA, light and dark."""
        result = []
        for scheme in ("light", "dark"):
            self.open(scheme=scheme)
            for panel in (False, True):
                if panel:
                    self.page.run("document.getElementById('open-help').click()")
                found = self.page.run(CONTRASTS)
                self.expect(len(found) > 60, f"only {len(found)} texts")
                bad = [f"{text!r} {ratio:.2f}" for ratio, least, text in found if ratio < least]
                self.expect(not bad, f"{scheme}: too little contrast: {', '.join(bad[:8])}")
                result.append(min(ratio for ratio, _, _ in found))
        self.open()
        return f"at least {min(result):.1f} to 1"

    def narrow(self):
        """At 360 pixels nothing stands out, and no value of the table is cut."""
        self.open(360, 740)
        self.wait("no sideways scrolling", "document.documentElement.scrollWidth <= 360 && document.body.scrollWidth <= 360")
        cut = self.page.run("[...document.querySelectorAll('#rows td, thead button')].filter((node) => node.checkVisibility() && node.scrollWidth > node.clientWidth + 1).map((node) => node.textContent)")
        self.expect(not cut, f"cut: {cut[:5]}")
        small = self.page.run("[...document.querySelectorAll('button, input, summary, a.button')].filter((node) => node.checkVisibility()).map((node) => (node.closest('label') ?? node).getBoundingClientRect()).filter((box) => box.height < 24 || box.width < 24).length")
        self.expect(small == 0, f"{small} controls are smaller than 24 pixels")
        self.open()
        return "fits"

    def wall(self):
        """The wall has the nearest distance and the regions alone, large, and the way back."""
        self.page.size(1920, 1080)
        self.page.click("#to-wall")
        self.wait("the wall", "document.body.classList.contains('wall')")
        seen = self.page.run("[...document.querySelectorAll('main > section')].filter((node) => node.checkVisibility()).map((node) => node.classList[0])")
        self.expect(set(seen) <= {"near", "location", "regions"} and {"near", "regions"} <= set(seen), f"the wall has {seen}")
        self.wait("the nearest distance", "/^[\\d.]+\\s(m|km)$/.test(document.querySelector('#nearest .distance').textContent)")
        large = self.page.run("parseFloat(getComputedStyle(document.querySelector('#nearest .distance')).fontSize)")
        self.expect(large > 150, f"the distance is {large} pixels large")
        parts = self.page.run("[...document.querySelectorAll('main > section')].filter((node) => node.checkVisibility()).map((node) => { "
                              "const { left, right, top, bottom } = node.getBoundingClientRect(); return [left, right, top, bottom]; })")
        share = sum((right - left) * (bottom - top) for left, right, top, bottom in parts) / (1920 * 1080)
        self.expect(share > 0.85, f"the parts take {100 * share:.0f} % of the wall")
        names = self.page.run("[...document.querySelectorAll('#region-list li')].filter((node) => node.checkVisibility()).length")
        self.expect(names == len(self.get("/api/v1/regions")["regions"]), f"{names} regions are on the wall")
        self.expect(self.page.run("document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight"),
                    "the wall is larger than the screen")
        if self.options.screens:
            self.page.picture(f"{self.options.screens}/wall.png")
        self.page.click("#to-wall")
        self.wait("the whole page", "!document.body.classList.contains('wall') && document.querySelector('.beacons').checkVisibility()")
        self.wait("the picture", "document.querySelectorAll('.beacon').length > 0")
        return f"{', '.join(seen)}; {large:.0f} pixels"
