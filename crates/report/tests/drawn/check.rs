//! A strict reader of the markup that is written here: XML without declarations or comments, in
//! which the parts of a table have no end tags.

/// An element's name and attributes, or text; with what stands for characters read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Element(String, Vec<(String, String)>),
    Text(String),
}

/// All pieces in the order in which they begin, or what is wrong.
pub(crate) fn read(markup: &str) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut open, mut rest) = (Vec::new(), Vec::new(), markup);
    while !rest.is_empty() {
        let Some(tag) = rest.strip_prefix('<') else {
            let end = rest.find('<').unwrap_or(rest.len());
            pieces.push(Piece::Text(plain(&rest[..end])?));
            rest = &rest[end..];
            continue;
        };
        if let Some(end) = tag.strip_prefix('/') {
            let (name, after) = end.split_once('>').ok_or("an end without an end")?;
            if name == "table" {
                end_parts(&mut open, 3);
            }
            let opened: String = open.pop().ok_or_else(|| format!("{name} was never opened"))?;
            if opened != name {
                return Err(format!("{name} ends {opened}"));
            }
            rest = after;
            continue;
        }
        let name = word(tag)?;
        match name {
            "td" | "th" => end_parts(&mut open, 1),
            "tr" => end_parts(&mut open, 2),
            "thead" | "tbody" => end_parts(&mut open, 3),
            _ => {}
        }
        let (attributes, after) = attributes(&tag[name.len()..])?;
        rest = match (after.strip_prefix("/>"), after.strip_prefix('>')) {
            (Some(after), _) => after,
            (_, Some(after)) => {
                open.push(name.to_owned());
                after
            }
            _ => {
                return Err(format!("{name} does not end: {:?}", after.chars().take(20).collect::<String>()));
            }
        };
        pieces.push(Piece::Element(name.to_owned(), attributes));
    }
    if open.is_empty() { Ok(pieces) } else { Err(format!("{open:?} stay open")) }
}

/// The parts of a table, from the innermost. They have no end tags: each ends where one like it
/// begins, or where the table ends.
const PARTS: [&[&str]; 3] = [&["td", "th"], &["tr"], &["thead", "tbody"]];

/// Ends what is open of so many of the innermost [`PARTS`].
fn end_parts(open: &mut Vec<String>, levels: usize) {
    for part in &PARTS[..levels] {
        if open.last().is_some_and(|last| part.contains(&last.as_str())) {
            open.pop();
        }
    }
}

fn word(text: &str) -> Result<&str, String> {
    let end =
        text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').unwrap_or(text.len());
    if end == 0 { Err("no name".to_owned()) } else { Ok(&text[..end]) }
}

type Attributes = Vec<(String, String)>;

fn attributes(text: &str) -> Result<(Attributes, &str), String> {
    let (mut found, mut rest) = (Attributes::new(), text);
    while let Some(next) = rest.strip_prefix(' ') {
        let name = word(next)?;
        let value = next[name.len()..].strip_prefix("=\"").ok_or_else(|| format!("{name} has no value"))?;
        let (value, after) = value.split_once('"').ok_or_else(|| format!("{name} does not end"))?;
        if found.iter().any(|(other, _)| other == name) {
            return Err(format!("{name} twice"));
        }
        found.push((name.to_owned(), plain(value)?));
        rest = after;
    }
    Ok((found, rest))
}

/// Text with its characters; a bare one that must not be bare is an error.
fn plain(text: &str) -> Result<String, String> {
    if let Some(bare) = text.chars().find(|letter| {
        matches!(letter, '<' | '>' | '\'' | '"') || letter.is_control() && !matches!(letter, '\n' | '\t')
    }) {
        return Err(format!("a bare {bare:?}"));
    }
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let (name, after) = after.split_once(';').ok_or("a bare &")?;
        out.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            other => return Err(format!("&{other};")),
        });
        rest = after;
    }
    Ok(out + rest)
}

#[test]
fn the_reader_is_strict() {
    assert!(read("<a b=\"c\">d<e/></a>").is_ok());
    let table =
        "<table><caption>c</caption><thead><tr><th>a<th>b<tbody><tr><td>1<td><i>2</i><tr><td></table>";
    assert_eq!(read(table).unwrap().len(), 18);
    for wrong in [
        "<a>",
        "</a>",
        "<a></b>",
        "<td>1",
        "<tr></a>",
        "<table><tr><td><i></table>",
        "<table><tr><td></td></tr></table></table>",
        "<a b></a>",
        "<a b=c></a>",
        "<a b=\"<\"></a>",
        "a & b",
        "a > b",
        "<!-- -->",
        "<a b=\"\" b=\"\"/>",
        "it's",
        "&nbsp;",
        "\u{1b}",
        "<a",
        "<a b=\"",
        "< a/>",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}
