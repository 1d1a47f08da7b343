"""What a figure's menu is told of a run stays text, in its page and in the file that is saved."""

from xml.etree import ElementTree

from ensemble.ui.frame import figure_menu


def test_a_caption_and_a_title_are_text_that_every_svg_can_hold() -> None:
    title, caption = '"><script>zz()</script>\x1b', "</p><img src=x onerror=zz()>\u202e & \ud800"
    made = figure_menu.render_menu_options("key", title, caption).replace("<input ", "<input/><i ")
    made = made.replace(' name="under">', ' name="under"/>')
    top = ElementTree.fromstring(made)
    assert top.attrib["data-title"] == '"><script>zz()</script>'
    assert top.findtext("p") == "</p><img src=x onerror=zz()> & "
    assert {one.tag for one in top.iter()} == {"div", "label", "select", "option", "input", "i", "p"}
