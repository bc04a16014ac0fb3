"""Checks of the page's locations: the drawing, and its changes while the machine moves."""

import json
import math

from browser import Failure
from checking import Checking
from probes import CONTRASTS, DRAWN, MAPPED


def polar(place, other):
    """The meters between two places and the bearing of the second one, on a sphere."""
    (one, two), turn = (math.radians(at["latitude"]) for at in (place, other)), math.radians(other["longitude"] - place["longitude"])
    share = math.sin((two - one) / 2) ** 2 + math.cos(one) * math.cos(two) * math.sin(turn / 2) ** 2
    bearing = math.atan2(math.sin(turn) * math.cos(two), math.cos(one) * math.sin(two) - math.sin(one) * math.cos(two) * math.cos(turn))
    return 2 * 6371008.8 * math.asin(math.sqrt(share)), bearing


class LocationChecks(Checking):
    def location(self):
        """The location, the circles and the path are drawn to scale, and stated in words; so is a fault."""
        page, visible = self.page, "document.getElementById('location').checkVisibility()"
        if self.can("locate", "forget"):
            self.expect(not page.run(visible), "the section is there, though the service has no locations")
            self.do("locate")
        elif "locationSources" not in self.get("/api/v1/health") or not any(r.get("radius") for r in self.get("/api/v1/regions")["regions"]):
            return None
        self.wait("the section", visible)
        worst = [None]

        def agree():
            fix = self.get("/api/v1/location")["fix"]
            if not fix:
                return False
            drawn = page.run(MAPPED)
            errors = [abs(drawn["accuracy"] - fix["accuracy"]) / fix["accuracy"]]
            for region in self.get("/api/v1/regions")["regions"]:
                if region["name"] not in drawn["circles"]:
                    continue
                east, north, radius, state = drawn["circles"][region["name"]]
                distance, bearing = polar(fix, region)
                errors += [math.hypot(east - distance * math.sin(bearing), north - distance * math.cos(bearing)) / max(100, distance),
                           abs(radius - region["radius"]) / region["radius"], 0 if state == region["state"] else 9]
            worst[0] = (max(errors), fix, drawn)
            inside = 0 <= drawn["fix"][0] <= drawn["width"] and 0 <= drawn["fix"][1] <= drawn["height"]
            return len(errors) > 1 and max(errors) < 0.03 and inside and (max(errors), fix, drawn)
        try:
            error, fix, drawn = self.wait("the drawing to be that of /api/v1/location and /api/v1/regions", agree)
        except Failure as failure:
            raise Failure(f"{failure}: {worst[0]}") from None

        def read():
            text, at = page.run("document.getElementById('place-facts').textContent"), self.get("/api/v1/location")["fix"]
            near = [abs(polar(at, region)[0] - region["radius"]) for region in self.get("/api/v1/regions")["regions"] if region.get("radius")]
            number, unit = page.run("document.querySelector('#boundary .distance').textContent").split()
            told = float(number) * (1000 if unit == "km" else 1)
            return (f"{abs(at['latitude']):.4f}" in text and "± 9.3\u00a0m" in text
                    and abs(told - min(near)) < max(2, 0.02 * told) and told)
        told = self.wait("the numbers of the fix and of the nearest boundary", read)
        summary = page.run("document.getElementById('map-summary').textContent")
        self.expect("latest fix is at" in summary and all(name in summary for name in drawn["circles"]), f"the drawing is described as {summary!r}")
        bad = page.run("[...document.querySelectorAll('#region-list li')].map((node) => node.textContent)"
                       ".filter((text) => /undefined|null|NaN|The rule that decided/.test(text))")
        self.expect(not bad, f"regions: {bad}")
        result = f"{len(drawn['circles'])} circles within {100 * error:.1f} %, {told:.0f} m to the nearest boundary"
        if self.can("locate", "forget"):
            result += self.walk()
            self.do("forget")
            self.wait("the section to go", f"!({visible})")
            self.open()
        return result

    def walk(self):
        """What happens while the machine moves, visits, crosses a circle, and loses its receiver."""
        page = self.page
        ground = "[...document.querySelectorAll('#map-circles circle')].map((disc) => disc.getAttribute('cx')).join()"
        # The ground moves when the fix reaches the edge of the drawing: rarely, and never twice in a row.
        for _ in range(2):
            before, drawn = page.run(f"[{ground}, {MAPPED}.way]")
            self.wait("several fixes", lambda: page.run(MAPPED)["way"] >= drawn + 3)  # pylint: disable=cell-var-from-loop
            if page.run(ground) == before:
                break
        else:
            raise Failure("the ground moves, though the fix is well inside the drawing")
        heading = self.get("/api/v1/location")["heading"]["trueHeading"]
        turned = float(page.run("document.getElementById('map-heading').getAttribute('transform')").strip("rotate()"))
        self.expect(abs((turned - heading + 180) % 360 - 180) < 10, f"the heading is {heading}, and {turned} is drawn")
        self.expect(page.run("document.getElementById('map-heading').checkVisibility({ visibilityProperty: true })"), "no heading is drawn")
        # Reports about beacons go on, and the drawing is left alone.
        self.do("stay")
        page.run("new Promise((done) => setTimeout(done, 1500))")
        page.run("window.redrawn = 0; new MutationObserver((list) => { redrawn += list.length; }).observe(document.querySelector('#map > g'), "
                 "{ subtree: true, childList: true, attributes: true, characterData: true })")
        picture = json.dumps(page.run(DRAWN))
        for _ in range(3):
            self.wait("another report", lambda: json.dumps(page.run(DRAWN)) != picture)
            picture = json.dumps(page.run(DRAWN))
        self.expect(page.run("redrawn") == 0, f"{page.run('redrawn')} changes of the drawing, though nothing has changed")
        self.do("walk")
        self.wait("the drawing to go on", "redrawn > 0")
        self.do("arrive")
        self.wait("the visit", "document.getElementById('visit').textContent.startsWith('here since ')")
        self.wait("the visit in the history", "document.querySelector('#events li')?.dataset.type === 'visit'")
        self.do("depart")
        self.wait("the end of the visit", "document.getElementById('visit').textContent.startsWith('left at ')")
        self.do("cross")
        self.wait("the exit in the history", "document.querySelector('#events li')?.dataset.type === 'exit'")
        why = page.run("document.querySelector('#events .why').textContent")
        self.expect("boundary ± 9.3\u00a0m" in why and why.endswith("."), f"the reason of the exit is {why!r}")
        self.wait("the circle to be drawn as outside", lambda: page.run(MAPPED)["circles"]["Square"][3] == "outside")
        self.do("return")
        self.wait("the circle to be drawn as inside", lambda: page.run(MAPPED)["circles"]["Square"][3] == "inside")
        self.do("blind")
        sentence = self.get("/api/v1/health")["locationSources"][0]["message"]
        for place in ("place-message", "receiver-list"):
            self.wait(f"{sentence!r} in {place}", f"document.getElementById('{place}').checkVisibility() && "
                      f"document.getElementById('{place}').textContent.includes({json.dumps(sentence)})")
        self.wait("the announcement", f"document.getElementById('announcements').textContent.includes({json.dumps(sentence)})")
        self.do("sight")
        self.wait("the message to go", "document.getElementById('place-message').hidden")
        for scheme in ("light", "dark"):
            for width, height in ((1920, 1080), (1366, 768), (360, 740)):
                self.open(width, height, scheme)
                self.wait("the drawing", "document.querySelector('#map .dot').checkVisibility()")
                bad = [f"{text!r} {ratio:.2f}" for ratio, least, text in page.run(CONTRASTS) if ratio < least]
                self.expect(not bad, f"{scheme}, {width}: too little contrast: {', '.join(bad[:8])}")
                self.wait(f"no sideways scrolling at {width}", "document.documentElement.scrollWidth <= innerWidth")
                cut = page.run("[...document.querySelectorAll('#place-facts dd, #map-legend')].filter((node) => "
                               "node.scrollWidth > node.clientWidth + 1 || node.getBoundingClientRect().bottom > "
                               "document.getElementById('location').getBoundingClientRect().bottom).map((node) => node.textContent)")
                self.expect(not cut, f"cut at {width}: {cut}")
                if self.options.screens:
                    page.picture(f"{self.options.screens}/location-{scheme}-{width}.png")
        return "; a walk, a visit, an exit and a fault"
