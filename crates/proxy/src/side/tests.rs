//! Calls of clients by the words that make them, and what people ask. The rules were made on the odd half of either table (the first,
//! the third …). Of the even half they knew 8 of 20 side calls at first, and took none of 30 questions for one; they were then widened.

use serde_json::json;

use super::*;

/// System text and message of side calls, shortened. Odd: clients that the tables name. Even: clients that they do not.
#[rustfmt::skip]
const SIDE: &[(&str, &str)] = &[
    ("", "### Task:\nGenerate a concise title summarizing the chat history.\n### Output:\nJSON format: { \"title\": \"…\" }\n### Chat History:\n<chat_history>\nUSER: hi\n</chat_history>"),
    ("Generate a concise title (5-6 words max) that captures the main topic of this conversation based on the user's message.\nReturn only the title, nothing else.", "how do I graft a pear?"),
    ("", "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history.\n### Output:\nJSON format: { \"tags\": [] }\n### Chat History:\n<chat_history>\nUSER: hi\n</chat_history>"),
    ("You are an AI assistant tasked with generating a concise and descriptive title for a conversation based on the user's query. Respond ONLY with the title.", "graft a pear"),
    ("", "### Task:\nPredict 3-5 useful messages this user might send next.\n### Output:\nJSON format: { \"follow_ups\": [] }\n### Chat History:\n<chat_history>\nUSER: hi\n</chat_history>"),
    ("Generate a very short chat title (2-5 words max) based on the user's message. Maximum 30 characters.", "My knee hurts since Monday."),
    ("", "### Task:\nAnalyze the chat history to determine the necessity of generating search queries. Strictly return in JSON format.\n### Chat History:\n<chat_history>\nUSER: hi\n</chat_history>"),
    ("- You will generate a short title based on the first message a user begins a conversation with.\n- no quotes", "plan my trip to Porto"),
    ("You are a title generator. You output ONLY a thread title. Nothing else.", "Generate a title for this conversation:\n\"fix the build\""),
    ("You are a helpful assistant that creates titles for conversations. Just write the title as answer, do not add extra information.", "User Query: hi\nAI Message: hello"),
    ("", "Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return the title itself.\n\nConversation:\nUser: hi\nAI: hello"),
    ("You are a helpful assistant that creates concise, descriptive titles for chat sessions. Do not include any other text in your response.", "my cat sneezes"),
    ("Analyze if this message indicates a new conversation topic. Format your response as a JSON object.", "my cat sneezes"),
    ("", "Find a concise title for a conversation between a user and an assistant. Don't output anything except the title. Make it shorter than 7 words.\nuser: hi\nassistant: hello"),
    ("Summarize this coding conversation in under 50 characters.", "Please write a 5-10 word title the following conversation:\n\nUser: Hello"),
    ("# Identity\n\nYou are a title-generation assistant that creates concise, informative titles reflecting the main topic of a dialogue.", "<user>hi</user><assistant>hello</assistant>"),
    ("", "Given the following... please reply with a title for the chat that is 3-4 words in length\n\nhello"),
    ("You are a helpful assistant that generates short, concise chat titles.", "Based on this conversation in English, generate a very short (2-4 words) chat title. Only return the title."),
    ("", "Based on the chat history, give this conversation a name.\nKeep it short.\nHere's the conversation:\n\n```\nhi\n```\n"),
    ("", "Rules you must follow:\n- You only respond in JSON format\n- Read the following conversation between AI and Human and generate at most 3 follow-up messages\nThe conversation is:\nHuman: hi\nAI: hello\n"),
    ("You are a specialized Task Routing AI. Your sole function is to analyze the user's request.", "rename foo"),
    ("", "Based on the conversation exchange below, generate 2-3 relevant follow-up questions the user might want to ask.\n\nUser message: \"\"\"hi\"\"\"\nAssistant response: \"\"\"hello\"\"\"\n\n- Return ONLY a valid JSON array"),
    ("*Briefly* summarize this partial conversation about programming.", "# USER\nrename foo\n# ASSISTANT\ndone"),
    ("You are a query rewriter. Given a conversation history and a follow-up message, rewrite the follow-up into a standalone question. Output ONLY the rewritten question, nothing else", "History: …\nFollow-up: and there?"),
    ("You are an expert software engineer that generates concise, one-line Git commit messages based on the provided diffs.", "diff --git a b"),
    ("You are an expert developer specializing in creating clear and concise commit messages.\nProvide one-sentence summary of the user's output.", "diff --git a b"),
    ("", "Please generate a four to five word title summarizing our conversation without any lead-in"),
    ("You are an expert at rewriting conversational questions into standalone queries. You will be given the conversation history and a user's latest question.", "Question: and there?\nContext: Porto"),
    ("You are an expert in crafting pithy titles for chatbot conversations.", "Please write a brief title for the following request: graft a pear"),
    ("", "Task: Generate 3 relevant follow-up questions that the USER would realistically ask next.\nOutput: JSON array of 3 strings only\n\nConversation:\nUser: hi\nAI: hello"),
    ("", "Given the following conversation and a follow up question, rephrase the follow up question to be a standalone question.\nChat History:\nhi\nFollow Up Input: and?"),
    ("You are an expert at writing clear, conventional commit messages. Follow the rules. Output only the message.", "diff --git a b"),
    ("You are a Personal Information Organizer, specialized in storing facts. Return JSON.", "Input:\nuser: I like tea"),
    ("# Title Generator\n\nYou are a \"Title Generator\". Your task is to generate a concise title that best represents the core topic of the chat history.", "<chat_history>\nhi\n</chat_history>"),
    ("", "Generate a concise 3-7 word title for this conversation, omitting punctuation. Go straight to the title."),
    ("Create a title for this chat session. Title in the language of the first message, max 6 words, without quotes.", "wie backe ich Brot?"),
    ("You are an AI programming assistant, helping a software developer to come with the best git commit message for their code changes.", "diff --git a b"),
    ("", "Summarise the dialogue between <conversation> tags as a short name of 3-5 words, nothing else.\n<conversation>\nuser: hi\nassistant: hello\n</conversation>"),
    ("Analyze the following conversation. You are a conversation summarizer. Write one line.", "user: hi"),
    ("Classify the intent of the last user message in this chat as one word: QUESTION, TASK, CHITCHAT. Respond only with the word.", "how are you?"),
    ("", "Write a title of 3-5 words with an emoji for the talk below.\n### Chat History:\n<chat_history>\nUSER: hi\n</chat_history>"),
];

/// What people ask first. The same halves.
#[rustfmt::skip]
const ASKED: &[(&str, &str)] = &[
    ("", "Give me a title for my novel about a lighthouse keeper."),
    ("", "Give me five titles for a talk about bees. Only the titles."),
    ("", "Summarize this text: The harbour was built in 1850."),
    ("", "Summarise in one sentence: my week was long and wet."),
    ("", "Translate to German, nothing else: I am late."),
    ("You are a helpful assistant.", "Translate this to Thai. Return only the translation: good night"),
    ("", "Write a commit message for: renamed foo to bar"),
    ("You are an expert programmer.", "What makes a good commit message?"),
    ("", "Summarize this conversation:\nAnn: hi\nBob: hello"),
    ("", "Here is a chat with my sister, what does she mean?\nInes: fine.\nMe: sure?"),
    ("You are a helpful assistant in a chat. Be brief, and answer only what is asked.", "What is the capital of Peru?"),
    ("You are ChatGPT. Conversations may be long. Return JSON only when asked.", "Where is Lima?"),
    ("", "Answer in JSON: which planets have rings?"),
    ("", "Give me JSON with keys name and age for Ann, 31. No other text."),
    ("", "What name should I give my cat?"),
    ("", "Suggest a name for my boat, three words or less."),
    ("You help an author to find titles for books.", "A book about salt."),
    ("You are an expert in naming products. Answer with the name only.", "A kettle that sings."),
    ("", "Generate follow-up questions for my interview with a baker."),
    ("", "Which questions should I ask a landlord?"),
    ("", "Tag these notes: bread, bees, boats."),
    ("", "Classify these animals as birds or fish: heron, pike."),
    ("", "Why does Open WebUI send \"Generate a concise title summarizing the chat history\"?"),
    ("", "How do I change the prompt that makes titles in my chat client?"),
    ("", "Rephrase: I can not come on Monday."),
    ("", "Rewrite this email so that it sounds kinder. Return only the email: No."),
    ("You are a story teller. Continue the session where it ended.", "The dragon woke."),
    ("You are the dungeon master of a session with four players.", "I open the door."),
    ("", "Is this a good topic for a thesis: eels?"),
    ("", "What topics come up in a first chat with a doctor?"),
    ("", "My name is Ann and I moved to Porto in May."),
    ("", "I adopted a parrot named Kiko."),
    ("", "### Task:\nbuy milk\n### Notes:\noat milk"),
    ("", "# Summary of my week\nI ran twice and slept badly."),
    ("", "Messages:\n- call Ines\n- pay rent\nWhich is more urgent?"),
    ("", "Conversation: what makes a good one?"),
    ("", "<html><title>Shop</title></html> why is the title not shown?"),
    ("", "In my table `chat` the column `title` should be only 30 characters, how do I change it?"),
    ("", "Extract the names from this letter: Dear Ann, Bob sends his love."),
    ("", "List every date in this: on May 3 and June 4 we met."),
    ("You are a coding agent. Use the tools. The conversation may be compacted.", "Fix the failing test."),
    ("You are a coding assistant working in a session with the user's repository; respond only in English.", "Rename foo to bar."),
    ("", "Predict the weather for me in three words."),
    ("", "What is the query to count rows in SQL? Only the query."),
    ("", "Write a haiku about rain, nothing else."),
    ("", "Give me a short name for a function that adds two numbers."),
    ("You are a friendly companion. Keep the chat going and never break character.", "Hello there!"),
    ("You answer customers of a bank. Topics: cards, loans. Respond only to these.", "My card is lost."),
    ("", "Can you label the axes of my chart?"),
    ("", "Explain how a title deed works."),
    ("", "quota"),
    ("", "hi"),
    ("", "Make a JSON schema of a chat message."),
    ("", "Write unit tests for a function that generates titles for conversations."),
    ("You are a lawyer. The conversation is confidential.", "What is a name change?"),
    ("Be brief.", "What was my first message about?"),
    ("", "Please summarize our plan so far: Monday run, Tuesday swim."),
    ("", "Autocomplete this poem: The sea was"),
    ("", "Which emoji fits a goodbye?"),
    ("", "What should the subject line of my email say? 5 words or less."),
];

fn is_side_of(system: &str, user: &str, speech: Speech) -> bool {
    let message = json!({"role": "user", "content": user});
    let body = match speech {
        Speech::Chat if system.is_empty() => json!({"model": "m", "messages": [message]}),
        Speech::Chat => json!({"model": "m", "messages": [{"role": "system", "content": system}, message]}),
        Speech::Messages => {
            json!({"model": "m", "system": [{"type": "text", "text": system}], "messages": [message]})
        }
        Speech::Responses => json!({"model": "m", "instructions": system, "input": [message]}),
    };
    judged(&body.to_string(), speech)
}

fn judged(text: &str, speech: Speech) -> bool {
    let body = Body::read(text).expect("a body");
    let said = Said::read(&body, speech).expect("messages");
    is_side(&body, &said, speech)
}

/// The rows that are misjudged: of the odd half, and of the even one.
fn misjudged(table: &'static [(&str, &str)], is: bool, speech: Speech) -> [Vec<&'static str>; 2] {
    let mut wrong = [Vec::new(), Vec::new()];
    for (n, (system, user)) in table.iter().enumerate() {
        if is_side_of(system, user, speech) != is {
            wrong[n % 2].push(if system.is_empty() { *user } else { *system });
        }
    }
    wrong
}

#[test]
fn side_calls_are_told_from_what_people_ask() {
    for speech in [Speech::Chat, Speech::Messages, Speech::Responses] {
        let none: [Vec<&str>; 2] = [vec![], vec![]];
        assert_eq!(misjudged(ASKED, false, speech), none, "{speech:?}");
        assert_eq!(misjudged(SIDE, true, speech), none, "{speech:?}");
    }
}

#[test]
fn what_a_request_is_made_of_tells_more_than_its_words() {
    let title = "You are a title generator. You output ONLY a thread title.";
    let of = |more: serde_json::Value| {
        let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
        body.as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        judged(&body.to_string(), Speech::Chat)
    };
    assert!(!of(json!({})));
    assert!(of(json!({"max_tokens": 1})), "a question after the quota");
    assert!(of(json!({"metadata": {"task": "title_generation"}})));
    assert!(!of(json!({"metadata": {"task": "support"}})));
    let talk = json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"},
        {"role": "user", "content": "Please generate a four to five word title summarizing our conversation without any lead-in"}]);
    assert!(
        of(json!({"messages": talk})),
        "what the client asks of a whole conversation"
    );
    let talk = json!([{"role": "system", "content": title}, {"role": "user", "content": "hi"}]);
    assert!(of(json!({"messages": talk})));
    assert!(!of(
        json!({"messages": talk, "tools": [{"type": "function", "function": {"name": "ls"}}]})
    ));
}
