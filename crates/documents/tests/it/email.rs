//! E-mails: the text that a reader sees.

use documents::{FileKind, Unreadable};
use expect_test::expect;

fn text(mail: &str) -> String {
    let source = documents::read(mail.replace('\n', "\r\n").as_bytes(), "a.eml", "").expect("a mail is read");
    assert_eq!(source.kind, FileKind::Email);
    source.markdown
}

#[test]
fn a_plain_mail_is_read_with_its_header() {
    let mail = "From: =?utf-8?q?J=C3=BCrgen_?= =?UTF-8?B?TcO8bGxlcg==?= <j@example.org>\nTo: Ana\nSubject: Boats\n and =?iso-8859-1?q?B=E4ume?=\n\
        Date: Tue, 5 Mar 2024 10:00:00 +0100\nX-Other: no\nContent-Type: text/plain; charset=\"iso-8859-1\"\n\
        Content-Transfer-Encoding: quoted-printable\n\nHello Ana,=20\nthe b=F6at is =\nred.\n\n# no heading\n\n> You wrote\n>> I asked\nJ.\n";
    expect![[r"
        # Boats and Bäume

        - From: Jürgen Müller \<j@example.org>
        - To: Ana
        - Date: Tue, 5 Mar 2024 10:00:00 +0100

        Hello Ana,
        the böat is red.

        \# no heading

        > You wrote

        > > I asked

        J.
    "]]
    .assert_eq(&text(mail));
    let source = documents::read(mail.as_bytes(), "a.eml", "").unwrap();
    assert_eq!(source.title, "Boats and Bäume");
}

#[test]
fn a_mail_of_several_parts_lists_its_attachments() {
    let mail = "From: a@example.org\nSubject: Plan\nContent-Type: multipart/mixed; boundary=\"out\"\n\nNO\n--out\n\
        Content-Type: multipart/alternative; boundary=in\n\n--in\nContent-Type: text/plain\n\nNO: another text than the page\n--in\n\
        Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\n\
        PGgxPkhhcmJvdXI8L2gxPjxwPlRoZSBjcmFuZSA8c3Ry\nb25nPm1vdmVzPC9zdHJvbmc+PHAgaGlkZGVuPk5P\n--in--\n--out\n\
        Content-Type: application/pdf; name=\"=?utf-8?q?gr=C3=BCn.pdf?=\"\nContent-Disposition: attachment\n\nJVBERi0=\n--out\n\
        Content-Type: image/png\nContent-Disposition: attachment; filename*0*=utf-8''bl%C3%A5; filename*1=tt.png\n\nx\n--out\n\
        Content-Type: text/plain\nContent-Disposition: attachment; filename=\"a;b.txt\"\n\nNO\n--out\nContent-Type: text/plain\n\nA last word.\n--out--\nNO\n";
    expect![[r"
        # Plan

        - From: a@example.org
        - Attachment: grün.pdf (application/pdf)
        - Attachment: blått.png (image/png)
        - Attachment: a;b.txt (text/plain)

        # Harbour

        The crane moves

        A last word.
    "]]
    .assert_eq(&text(mail));
}

#[test]
fn an_empty_page_is_replaced_by_the_plain_text() {
    let mail = "From: a\nSubject: s\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\nplain\n--b\nContent-Type: text/html\n\n<img src=x>\n";
    assert_eq!(text(mail), "# s\n\n- From: a\n\nplain\n");
}

#[test]
fn an_old_japanese_mail_is_decoded() {
    let mail = b"From: a\nSubject: =?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=\nContent-Type: text/plain; charset=iso-2022-jp\n\n\x1b$BF|K\\\x1b(B\n";
    let source = documents::read(mail, "a.eml", "").unwrap();
    assert_eq!(source.markdown, "# 日本\n\n- From: a\n\n日本\n");
}

/// Mailing lists append lines that are not base64.
#[test]
fn a_footer_after_base64_is_ignored() {
    let mail = "From: a\nMIME-Version: 1.0\nContent-Transfer-Encoding: base64\n\nSGVsbG8gQW5hLg==\n____\nleave the list: example.org\n";
    assert_eq!(text(mail), "- From: a\n\nHello Ana.\n");
}

#[test]
fn mails_are_detected_by_header_name_and_type() {
    let kind = |text: &str, name: &str, media_type: &str| {
        documents::read(text.as_bytes(), name, media_type)
            .expect("a file that is read")
            .kind
    };
    let served = "Return-Path: <a@b>\nReceived: from x\n by y\nFrom: a\n\nwords";
    assert_eq!(kind(served, "notes.txt", "text/plain"), FileKind::Email);
    assert_eq!(
        kind(&format!("From a@b Tue Mar 5\n{served}"), "", ""),
        FileKind::Email
    );
    let short = "From: Ana\nTo: Ben\n\nwords";
    assert_eq!(kind(short, "a.EML", ""), FileKind::Email);
    assert_eq!(kind(short, "a", "message/rfc822; x=y"), FileKind::Email);
    assert_eq!(kind(short, "a.txt", ""), FileKind::Text);
    assert_eq!(
        kind("Received: today\nFrom: Ana\nwords and more\nwords\n\nend", "", ""),
        FileKind::Text
    );
    assert_eq!(kind("words\n\nFrom: Ana", "a.eml", ""), FileKind::Text);
    assert_eq!(kind("<!doctype html><p>From: x", "a.eml", ""), FileKind::Html);
}

#[test]
fn an_encrypted_mail_is_refused() {
    let mail = "From: a\nMIME-Version: 1.0\nContent-Type: multipart/encrypted; boundary=b\n\n--b\nContent-Type: application/octet-stream\n\nx\n--b--\n";
    assert_eq!(
        documents::read(mail.as_bytes(), "", "").unwrap_err(),
        Unreadable::Encrypted
    );
}
