//! Images: what comes in, what goes out, and what a hostile file can do.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::{UNKNOWN, World, assert_fault, read};

async fn upload(world: &World, path: &str, field: &str, name: &str, content: &[u8]) -> (StatusCode, Value) {
    let head =
        format!("--B\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\r\n");
    let body = [head.as_bytes(), content, b"\r\n--B--\r\n"].concat();
    let request = Request::builder().method("POST").uri(path).header(header::HOST, "localhost");
    let request = request.header(header::CONTENT_LENGTH, body.len());
    let request = request.header(header::CONTENT_TYPE, "multipart/form-data; boundary=B");
    read(world.send(request.body(Body::from(body)).unwrap()).await).await
}

async fn kept(world: &World, name: &str, content: &[u8]) -> Value {
    let (status, body) = upload(world, "/api/images/upload", "image", name, content).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    body["data"].clone()
}

fn files(world: &World) -> Vec<String> {
    let entries = std::fs::read_dir(world.dir.path().join("images")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[tokio::test]
async fn one_content_is_kept_once_under_a_name_of_ours() {
    let world = World::new().await;
    let first = kept(&world, "../../evil.PNG", b"pixels").await;
    let (_, again) = upload(&world, "/api/images/upload", "file", "other.gif", b"pixels").await;
    assert_eq!(first, again["data"], "the same content is the same image");
    assert_eq!(first["original_name"], "evil.PNG");
    let name = format!("{}.png", first["hash"].as_str().unwrap());
    assert_eq!(first["file_path"], json!(format!(".forge-images/{name}")));
    assert_eq!(files(&world), std::slice::from_ref(&name));
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(world.dir.path().join("images").join(name)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    world.close().await;
}

#[tokio::test]
async fn a_file_is_served_so_that_nothing_in_it_runs() {
    let world = World::new().await;
    let svg = kept(&world, "a.svg", b"<svg><script>alert(1)</script></svg>").await;
    let png = kept(&world, "noextension", b"pixels").await;
    for (image, mime, attached) in [(svg, "image/svg+xml", true), (png, "image/png", false)] {
        let path = format!("/api/images/{}/file", image["id"].as_str().unwrap());
        let request = Request::builder().uri(path).header(header::HOST, "localhost");
        let response = world.send(request.body(Body::empty()).unwrap()).await;
        let head = response.headers();
        assert_eq!(head[header::CONTENT_TYPE], mime);
        assert_eq!(head[header::CONTENT_LENGTH], image["size_bytes"].to_string().as_str());
        assert_eq!(head[header::CACHE_CONTROL], "public, max-age=31536000");
        assert_eq!(head[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert!(head[header::CONTENT_SECURITY_POLICY].to_str().unwrap().starts_with("sandbox"));
        assert_eq!(head.contains_key(header::CONTENT_DISPOSITION), attached);
    }
    world.close().await;
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused_and_leaves_nothing() {
    let world = World::new().await;
    let path = "/api/images/upload";
    assert_fault(&upload(&world, path, "image", "a.txt", b"x").await, 400, "PNG, JPG, GIF, WebP");
    assert_fault(&upload(&world, path, "picture", "a.png", b"x").await, 400, "'image' or 'file'");
    assert_fault(&world.ask("POST", path, Some(json!({"image": "x"}))).await, 400, "Failed to upload file");
    let large = vec![0; (20 << 20) + 1];
    assert_fault(&upload(&world, path, "image", "a.png", &large).await, 413, "20.0 MB");
    let larger = vec![0; 25 << 20];
    assert_fault(&upload(&world, path, "image", "a.png", &larger).await, 413, "25.0 MB");
    let unknown = format!("/api/images/task/{UNKNOWN}/upload");
    assert_fault(&upload(&world, &unknown, "image", "a.png", b"x").await, 404, UNKNOWN);
    assert_fault(&world.get(&format!("/api/images/task/{UNKNOWN}")).await, 404, UNKNOWN);
    // The remains of a refused upload are removed in the background.
    for _ in 0..200 {
        if files(&world).is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(files(&world), [""; 0]);
    world.close().await;
}

#[tokio::test]
async fn the_largest_allowed_image_is_taken() {
    let world = World::new().await;
    let image = kept(&world, "a.webp", &vec![7; 20 << 20]).await;
    assert_eq!(image["size_bytes"], json!(20 << 20));
    world.close().await;
}

#[tokio::test]
async fn tasks_show_the_images_they_name_in_order() {
    let world = World::new().await;
    let project = world.project().await;
    let [a, b, c] = [
        kept(&world, "a.png", b"a").await,
        kept(&world, "b.png", b"b").await,
        kept(&world, "c.png", b"c").await,
    ];
    let body = json!({"project_id": project, "title": "t", "image_ids": [b["id"], a["id"]]});
    let (_, task) = world.ask("POST", "/api/tasks", Some(body)).await;
    let task = task["data"]["id"].as_str().unwrap().to_owned();
    let list = format!("/api/images/task/{task}");
    assert_eq!(world.get(&list).await.1["data"], json!([b, a]));

    let path = format!("/api/images/task/{task}/upload");
    upload(&world, &path, "image", "c.png", b"c").await;
    assert_eq!(world.get(&list).await.1["data"], json!([b, a, c]));

    let path = format!("/api/tasks/{task}");
    world.ask("PUT", &path, Some(json!({"title": "new"}))).await;
    assert_eq!(world.get(&list).await.1["data"].as_array().unwrap().len(), 3, "absent keeps");
    world.ask("PUT", &path, Some(json!({"image_ids": [c["id"]]}))).await;
    assert_eq!(world.get(&list).await.1["data"], json!([c]), "a list replaces");

    let delete = format!("/api/images/{}", c["id"].as_str().unwrap());
    for _ in 0..2 {
        assert_eq!(world.ask("DELETE", &delete, None).await.0, StatusCode::OK);
    }
    assert_eq!(world.get(&list).await.1["data"], json!([]));
    assert_fault(&world.get(&format!("{delete}/file")).await, 404, "Image not found.");
    world.close().await;
}

#[tokio::test]
async fn an_unknown_image_is_named_and_nothing_is_created() {
    let world = World::new().await;
    let project = world.project().await;
    let task = world.task(&project, "t").await;
    let named = json!({"project_id": project, "title": "x", "image_ids": [UNKNOWN]});
    assert_fault(&world.ask("POST", "/api/tasks", Some(named.clone())).await, 404, "image_ids");
    let start = json!({"task": named, "executor_profile_id": "SHELL"});
    assert_fault(&world.ask("POST", "/api/tasks/create-and-start", Some(start)).await, 404, "image_ids");
    let path = format!("/api/tasks/{task}");
    assert_fault(&world.ask("PUT", &path, Some(json!({"image_ids": [UNKNOWN]}))).await, 404, "image_ids");
    assert_fault(&world.ask("PUT", &path, Some(json!({"image_ids": ["x"]}))).await, 422, "image_ids");
    let many = vec![UNKNOWN; 201];
    assert_fault(&world.ask("PUT", &path, Some(json!({"image_ids": many}))).await, 422, "up to 200");
    let tasks = world.get(&format!("/api/tasks?project_id={project}")).await.1;
    assert_eq!(tasks["data"].as_array().unwrap().len(), 1);
    world.close().await;
}
